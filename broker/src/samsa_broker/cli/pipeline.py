"""samsa pipeline: jobs over topics and tables, in a Spark on this machine.

The jobs are programs of their own (`pyspark_samsa.jobs`), which a cluster runs by spark-submit.
"""

import argparse
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .client import ClientError
from .options import add_command

JOBS = {
    "topic-to-table": "a topic as a table: every record, or the latest of each key",
    "table-to-topic": "the rows of a table as records, once, however often it is run",
    "replay": "records of some time from one topic to another",
    "compare": "are two topics, or a topic and a table, equal key by key?",
    "run": "one update of a declarative pipeline: the trucks, or your own",
    "plots": "a page of plots of the trucks: what came, what waits, how fast they are, and where",
}
EXAMPLES = """
examples:
  samsa pipeline topic-to-table orders tables/orders
  samsa pipeline compare orders --table tables/orders
  samsa pipeline compare --help
"""
INSTALL = (
    "the jobs need Spark, which comes with pyspark-samsa: pip install ./pipeline, in the checkout"
)
NEEDED = "pyspark", "pyspark_samsa"
NO_PREFIX = "\0"
"""A prefix that no option has, so that this parser passes all words on to the job's own parser."""


def add_to(commands: Any) -> None:
    pipeline = add_command(
        commands,
        "pipeline",
        brief="jobs over topics and tables, by Spark",
        description="Jobs over topics and tables, in a Spark on this machine, with the machine's "
        "Java or one from PyPI. They work on the stores: no broker has to run.",
        epilog=EXAMPLES,
    )
    jobs = pipeline.add_subparsers(dest="job", metavar="JOB", required=True)
    for name, what in JOBS.items():
        job = jobs.add_parser(
            name,
            help=what,
            description=f"Starts Spark for this: {what}. `samsa pipeline {name} --help` has more.",
            prefix_chars=NO_PREFIX,
            add_help=False,
        )
        job.add_argument("arguments", nargs=argparse.REMAINDER, help="the job's own")
        job.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """In this process: the job sets up Java, and Python in the workers, before Spark starts."""
    if any(find_spec(package) is None for package in NEEDED):
        raise ClientError(INSTALL)
    module = import_module(f"pyspark_samsa.jobs.{given.job.replace('-', '_')}")
    code: int = module.main(given.arguments)
    return code
