"""Two topics, or a topic and a table: are they equal, key by key?

Equal means that every key has the same values, each as often, in whatever order; or, with `--mode
latest`, that it has the same latest value. Ends with 0 if they are, with 1 if they are not, and
with 2 if it cannot be said. Times, offsets and headers are not compared.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import col, count, count_if, expr, greatest, lit, when
from pyspark.sql.functions import min as least
from pyspark.sql.functions import sum as total

from pyspark_samsa.errors import BadOption
from pyspark_samsa.jobs.arguments import add_since, add_until, job_parser, where_the_log_is
from pyspark_samsa.jobs.folders import Folder
from pyspark_samsa.jobs.latest import AGE, LATEST, latest
from pyspark_samsa.jobs.progress import progress
from pyspark_samsa.jobs.running import run, summary
from pyspark_samsa.jobs.tables import add_format, check_format
from pyspark_samsa.jobs.topics import add_where, records

ALL = "all"
DIFFERENT = 1
DIFFERS = "only_left > 0 or only_right > 0"
WIDTH = 60

EXAMPLES = """\
  samsa pipeline compare orders orders-copy
  samsa pipeline compare orders --table tables/orders
  samsa pipeline compare customers --table tables/customers --mode latest
  samsa pipeline compare orders orders-of-may --since 2026-05-01 --until 2026-06-01
"""


def parser() -> argparse.ArgumentParser:
    parser = job_parser("compare", __doc__, EXAMPLES)
    parser.add_argument("topic", help="its name")
    parser.add_argument("other", nargs="?", help="another topic, or…")
    parser.add_argument("--table", metavar="DIR", help="…a table")
    add_format(parser)
    parser.add_argument(
        "--mode", choices=(ALL, LATEST), default=ALL, help="what of each key (%(default)s)"
    )
    parser.add_argument("--key", default="key", help="that column of the table (%(default)s)")
    parser.add_argument("--value", default="value", help="that column of the table (%(default)s)")
    parser.add_argument(
        "--show", metavar="N", type=int, default=10, help="differences at most (%(default)s)"
    )
    add_since(parser, "records of the first topic")
    add_until(parser, "records of the first topic")
    add_where(parser, "records of the first topic")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run(parser(), argv, work)


def work(spark: SparkSession, given: argparse.Namespace) -> int:
    if (given.other is None) == (given.table is None):
        raise BadOption("compare takes two topics, or a topic and --table")
    log = where_the_log_is(given)
    chosen = given.since, given.until, given.where
    few = ("key", "value", *(AGE if given.mode == LATEST else ()))
    whole = any(limit is not None for limit in chosen)
    left = records(spark, log, given.topic, *chosen, columns=None if whole else few)
    right = _table(spark, given) if given.table else records(spark, log, given.other, columns=few)
    names = f"topic {given.topic}", _name(given)
    found = by_key(_chosen(left, given.mode), _chosen(right, given.mode))
    found.persist(StorageLevel.DISK_ONLY)
    try:
        with progress(spark, f"comparing {names[0]} and {names[1]}"):
            sums = _sums(found)
            unequal = _sample(found, given.show) if sums.different else []
    finally:
        found.unpersist()
    for row in unequal:
        print(line(row, names))
    summary(
        **{f"records in {names[0]}": sums.left or 0, f"records in {names[1]}": sums.right or 0},
        keys=sums["keys"],
        keys_that_differ=sums.different,
    )
    return DIFFERENT if sums.different else 0


def _name(given: argparse.Namespace) -> str:
    if given.table:
        return f"table {given.table}"
    return f"{'all of ' if given.other == given.topic else ''}topic {given.other}"


def _table(spark: SparkSession, given: argparse.Namespace) -> DataFrame:
    check_format(Folder(spark, given.table), given.format)
    table = spark.read.format(given.format).load(given.table)
    same = {"key": given.key, "value": given.value}
    return table.withColumns({name: _bytes(table, of) for name, of in same.items()})


def _bytes(table: DataFrame, name: str) -> Any:
    of_bytes = dict(table.dtypes).get(name) == "binary"
    return col(name) if of_bytes else col(name).cast("string").cast("binary")


def _chosen(side: DataFrame, mode: str) -> DataFrame:
    if mode == LATEST and set(AGE) <= set(side.columns):
        side = latest(side)
    chosen = side.select("key", "value")
    return chosen.where("key is not null and value is not null") if mode == LATEST else chosen


def by_key(left: DataFrame, right: DataFrame) -> DataFrame:
    """Of each key: its records on both sides, how many are on one side only, and one of those."""
    both = _counted(left, 1, 0).unionAll(_counted(right, 0, 1))
    by_value = both.groupBy("key", "value").agg(
        total("left").alias("left"), total("right").alias("right")
    )
    more = col("left") - col("right")
    return by_value.groupBy("key").agg(
        total("left").alias("left"),
        total("right").alias("right"),
        total(greatest(more, lit(0))).alias("only_left"),
        total(greatest(-more, lit(0))).alias("only_right"),
        least(when(more > 0, col("value"))).alias("left_value"),
        least(when(more < 0, col("value"))).alias("right_value"),
    )


def _counted(side: DataFrame, left: int, right: int) -> DataFrame:
    return side.select("key", "value", lit(left).alias("left"), lit(right).alias("right"))


def _sums(found: DataFrame) -> Row:
    (row,) = found.agg(
        total("left").alias("left"),
        total("right").alias("right"),
        count("*").alias("keys"),
        count_if(expr(DIFFERS)).alias("different"),
    ).collect()
    return row


def _sample(found: DataFrame, most: int) -> list[Row]:
    return found.where(DIFFERS).orderBy("key").limit(most).collect()


def line(row: Row, names: tuple[str, str]) -> str:
    """One key, and what only one side has of it."""
    sides = zip(
        names, (row.only_left, row.only_right), (row.left_value, row.right_value), strict=True
    )
    said = [f"only in {name}: {_what(count, value)}" for name, count, value in sides if count]
    return "\t".join([shown(row.key), *said])


def _what(count: int, value: bytes | None) -> str:
    return shown(value) + (f" and {count - 1:,} more" if count > 1 else "")


def shown(data: bytes | None) -> str:
    """For people: text if it is, and not too much of it."""
    if data is None:
        return "null"
    text = bytes(data[: WIDTH + 1]).decode(errors="backslashreplace")
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}…"


if __name__ == "__main__":
    sys.exit(main())
