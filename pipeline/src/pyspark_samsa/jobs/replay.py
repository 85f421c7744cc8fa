"""Records of one topic into another: all of them, those of some time, or those that pass a filter.

A key's records keep their order. However often a replay is run under one id, and wherever it was
stopped before, what it writes is there once.
"""

import argparse
import sys
from collections.abc import Sequence

from pyspark.sql import SparkSession

from pyspark_samsa.jobs.arguments import add_since, add_until, job_parser, where_the_log_is
from pyspark_samsa.jobs.running import run
from pyspark_samsa.jobs.sending import add_sending, in_order, job_id, send
from pyspark_samsa.jobs.topics import add_where, records

EXAMPLES = """\
  samsa pipeline replay orders orders-of-may --since 2026-05-01 --until 2026-06-01
  samsa pipeline replay orders orders-eu --where "string(key) like 'eu-%'" --keep-times
  samsa pipeline replay orders orders-copy --keep-partitions --id second-try
"""


def parser() -> argparse.ArgumentParser:
    parser = job_parser("replay", __doc__, EXAMPLES)
    parser.add_argument("source", metavar="from", help="the topic to read")
    parser.add_argument("topic", metavar="to", help="the topic to write, which is there already")
    add_since(parser)
    add_until(parser)
    add_where(parser)
    add_sending(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run(parser(), argv, work)


def work(spark: SparkSession, given: argparse.Namespace) -> int:
    log = where_the_log_is(given)
    chosen = given.since, given.until, given.where
    found = records(spark, {**log, "includeHeaders": "true"}, given.source, *chosen)
    name = given.id or job_id("replay", log["ledger"], given.source, given.topic, *chosen)
    rows = in_order(found, ("partition", "offset"), given.keep_partitions)
    return send(spark, rows, log, given, name, f"{given.source} to {given.topic}")


if __name__ == "__main__":
    sys.exit(main())
