"""The rows of a table as records of a topic: a backfill.

However often it is run under one id, and wherever it was stopped before, each row is there once.
A table that topic-to-table made becomes the records that it was made of. Of any other table, a
row's columns become a JSON object, unless --value names one of them.
"""

import argparse
import sys
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col, struct, to_json

from pyspark_samsa.errors import BadOption, did_you_mean
from pyspark_samsa.jobs.arguments import job_parser, where_the_log_is
from pyspark_samsa.jobs.folders import Folder
from pyspark_samsa.jobs.running import run
from pyspark_samsa.jobs.sending import add_sending, in_order, job_id, send
from pyspark_samsa.jobs.tables import add_format, check_format

AS_THEY_ARE = ("string", "binary")
OF_A_TOPIC = ("partition", "offset")

EXAMPLES = """\
  samsa pipeline table-to-topic tables/orders orders-again
  samsa pipeline table-to-topic tables/prices prices --key item --order-by changed_at
  samsa pipeline table-to-topic tables/prices prices --key item --value price --id may
"""


def parser() -> argparse.ArgumentParser:
    parser = job_parser("table-to-topic", __doc__, EXAMPLES)
    parser.add_argument("table", help="its folder")
    parser.add_argument("topic", help="its name; it is there already")
    add_format(parser)
    parser.add_argument(
        "--key", metavar="COLUMN", help="of the records (the column `key`, if there is one)"
    )
    parser.add_argument(
        "--value", metavar="COLUMN",
        help="of the records (the column `value`, if there is one, else the row as JSON)",
    )  # fmt: skip
    parser.add_argument(
        "--order-by", metavar="COLUMN", action="append", default=[],
        help="in which rows of one key are written; may be repeated (as they were in a topic)",
    )  # fmt: skip
    add_sending(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run(parser(), argv, work)


def work(spark: SparkSession, given: argparse.Namespace) -> int:
    log, folder = where_the_log_is(given), str(Folder(spark, given.table))
    check_format(Folder(spark, given.table), given.format)
    table = spark.read.format(given.format).load(folder)
    order = given.order_by or [name for name in OF_A_TOPIC if name in table.columns]
    parts = log["ledger"], folder, given.topic, given.key, given.value
    name = given.id or job_id("table-to-topic", *parts)
    rows = in_order(as_records(table, given.key, given.value), order, given.keep_partitions)
    return send(spark, rows, log, given, name, f"{given.table} to {given.topic}")


def as_records(table: DataFrame, key: str | None, value: str | None) -> DataFrame:
    """With the columns `key` and `value`, and all others as they are."""
    key = _chosen(table, key, "key")
    value = _chosen(table, value, "value")
    whole = to_json(struct(*map(col, table.columns)))
    made = {"value": whole if value is None else _text(table, value)}
    if key is not None:
        made["key"] = _text(table, key)
    return table.withColumns(made)


def _chosen(table: DataFrame, named: str | None, usual: str) -> str | None:
    if named is not None and named not in table.columns:
        hint = did_you_mean(named, table.columns)
        raise BadOption(f"the table has no column {named!r}{hint}")
    return named or (usual if usual in table.columns else None)


def _text(table: DataFrame, name: str) -> Column:
    is_fit = dict(table.dtypes)[name] in AS_THEY_ARE
    return col(name) if is_fit else col(name).cast("string")


if __name__ == "__main__":
    sys.exit(main())
