"""Runs a job: opens its session, prints its errors as sentences, and its summary."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pyspark_samsa import DefaultSource
from pyspark_samsa.errors import SamsaError
from pyspark_samsa.java import NoJava
from pyspark_samsa.jobs.arguments import where_the_log_is
from pyspark_samsa.jobs.delta import delta_conf
from pyspark_samsa.jobs.s3 import are_in_s3, s3_conf
from pyspark_samsa.jobs.tables import DELTA
from pyspark_samsa.session import SUBMITTED, local_session

LOG = Path(__file__).with_name("log4j2.properties")
FOLDERS = "table", "checkpoint"
TROUBLE, INTERRUPTED = 2, 130
_OURS = re.compile(r"pyspark_samsa\.(?:\w+\.)*\w+: (.+)")

Work: TypeAlias = Callable[[SparkSession, argparse.Namespace], int]
Check: TypeAlias = Callable[[argparse.Namespace], None]
"""Raises SamsaError."""


def nothing_more(given: argparse.Namespace) -> None:
    """Of most jobs there is nothing else to check."""


def run(
    parser: argparse.ArgumentParser,
    argv: Sequence[str] | None,
    work: Work,
    check: Check = nothing_more,
) -> int:
    """The exit status of the job: its own; or TROUBLE, after a sentence on stderr."""
    given = parser.parse_args(argv)
    try:
        where_the_log_is(given)  # Spark takes seconds to start: first see whether there is a log
        check(given)
        with session(parser.prog, given) as spark:
            return work(spark, given)
    except (SamsaError, NoJava) as error:
        why = str(error)
    except PySparkException as error:
        why = sentence(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    print(f"{parser.prog}: {why}", file=sys.stderr)
    return TROUBLE


def sentence(error: str) -> str:
    """The message that Spark wraps in stack traces of two languages."""
    ours = _OURS.findall(error)
    return str(ours[-1]) if ours else error.partition("\n")[0]


@contextmanager
def session(name: str, given: argparse.Namespace) -> Iterator[SparkSession]:
    """An existing session, or that of spark-submit; else a new one that ends with the job."""
    there = SparkSession.getActiveSession()
    if there is not None:
        yield there
        return
    if SUBMITTED in os.environ:
        spark = SparkSession.builder.appName(name).getOrCreate()
        # Spark finds it by itself where it is installed, but not in what --py-files brings.
        spark.dataSource.register(DefaultSource)
    else:
        be_quiet()
        spark = local_session(name, given.cores, conf(given))
        spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def be_quiet() -> None:
    """Spark's Java logs errors alone, unless the user has configured what it logs."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if not {"SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS"} & os.environ.keys():
        os.environ["SPARK_SUBMIT_OPTS"] = f"-Dlog4j2.configurationFile={LOG.as_uri()}"


def conf(given: argparse.Namespace) -> dict[str, str]:
    """Settings of the job's Spark: the user's, and those that the tables need."""
    chosen = dict(given.conf)
    found = delta_conf(chosen) if getattr(given, "format", None) == DELTA else chosen
    in_s3 = are_in_s3(getattr(given, name, None) for name in FOLDERS)
    return s3_conf(found, chosen) if in_s3 else found


def summary(**figures: str | int) -> None:
    for name, value in figures.items():
        text = f"{value:,}" if isinstance(value, int) else value
        print(f"{name.replace('_', ' ')}\t{text}")
