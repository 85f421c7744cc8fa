"""A topic as a table, in Parquet, Delta or Iceberg: every record, or the latest of each key.

Each run goes on where the one before it ended, by a checkpoint beside the table. One that is
stopped at any moment loses nothing and writes nothing twice. The flags of the first run are those
of all runs: others are refused.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from pyspark_samsa.errors import SamsaError
from pyspark_samsa.jobs.arguments import add_since, job_parser, where_the_log_is
from pyspark_samsa.jobs.filled import check_flags
from pyspark_samsa.jobs.folders import Folder
from pyspark_samsa.jobs.iceberg import IcebergTable, add_iceberg, check_iceberg
from pyspark_samsa.jobs.latest import LATEST, merge, recover, rewrite
from pyspark_samsa.jobs.progress import progress
from pyspark_samsa.jobs.running import run, summary
from pyspark_samsa.jobs.tables import DELTA, ICEBERG, PARQUET, Table, add_format, check_format

APPEND = "append"
BATCH_BYTES = 256 * 1024 * 1024
"""What a micro-batch of an appending run reads: that much is done again if it is stopped."""
UPSERTS: dict[str, Callable[[DataFrame, Folder], None]] = {PARQUET: rewrite, DELTA: merge}

EXAMPLES = """\
  samsa pipeline topic-to-table orders tables/orders
  samsa pipeline topic-to-table customers tables/customers --mode latest --text
  samsa pipeline topic-to-table orders tables/orders --format delta
  samsa pipeline topic-to-table orders lake.orders --format iceberg \\
      --catalog-conf uri=https://catalog.example.com --partition-by "days(timestamp)" \\
      --checkpoint checkpoints/orders
"""


def parser() -> argparse.ArgumentParser:
    parser = job_parser("topic-to-table", __doc__, EXAMPLES)
    parser.add_argument("topic", help="its name")
    parser.add_argument(
        "table", help="its folder, anywhere that Spark can write; of Iceberg its name: lake.orders"
    )
    parser.add_argument(
        "--mode", choices=(APPEND, LATEST), default=APPEND,
        help="every record, or the latest of each key, without those whose value is null"
        " (%(default)s). The latest in Parquet means to write the whole table anew",
    )  # fmt: skip
    add_format(parser, ICEBERG)
    parser.add_argument("--text", action="store_true", help="key and value as text, not as bytes")
    parser.add_argument("--headers", action="store_true", help="with a column of record headers")
    parser.add_argument(
        "--ignore-loss", action="store_true",
        help="go on where the log has dropped what was not read yet, rather than stop",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="how far it has come (beside the table; of Iceberg, to be named)",
    )
    add_since(parser, "records, in the first run,")
    add_iceberg(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run(parser(), argv, work, check_iceberg)


def work(spark: SparkSession, given: argparse.Namespace) -> int:
    table = table_of(spark, given)
    checkpoint = Folder(spark, given.checkpoint or f"{table}.{given.mode}.checkpoint")
    check(table, checkpoint)
    if isinstance(table, Folder):
        check_format(table, given.format)
    check_flags(spark, given, where_the_log_is(given), table, checkpoint)
    before = size(spark, table, given.format)
    with progress(spark, f"{given.topic} to {given.table}"):
        query = start(records(spark, given), given, table, str(checkpoint))
        query.awaitTermination()
    summary(
        topic=given.topic,
        table=f"{given.table} ({given.format}, {given.mode})",
        rows_before=before,
        rows_now=size(spark, table, given.format),
    )
    return 0


def table_of(spark: SparkSession, given: argparse.Namespace) -> Folder | IcebergTable:
    if given.format == ICEBERG:
        return IcebergTable(given)
    folder = Folder(spark, given.table)
    recover(folder)
    return folder


def size(spark: SparkSession, table: Folder | IcebergTable, kind: str) -> int:
    if isinstance(table, IcebergTable):
        return table.rows()
    return spark.read.format(kind).load(str(table)).count() if table.exists() else 0


def check(table: Table, checkpoint: Folder) -> None:
    """Each without the other would be a table with rows twice, or with rows missing."""
    if table.exists() and not checkpoint.exists():
        raise SamsaError(
            f"{table} is there, but {checkpoint} is not: it is a table of another kind, or its "
            "checkpoint was deleted. Name another table, or delete this one to fill it anew"
        )
    if not table.exists() and not (checkpoint / "commits").is_empty():
        raise SamsaError(f"{table} is gone: delete {checkpoint} too, to fill it anew")


def records(spark: SparkSession, given: argparse.Namespace) -> DataFrame:
    options = {
        **where_the_log_is(given),
        "subscribe": given.topic,
        "startingOffsets": "earliest",
        "includeHeaders": str(given.headers).lower(),
        "failOnDataLoss": str(not given.ignore_loss).lower(),
    }
    if given.mode == APPEND:
        options["maxBytesPerTrigger"] = str(BATCH_BYTES)
    if given.since is not None:
        options["startingTimestamp"] = str(given.since)
        options["startingOffsetsByTimestampStrategy"] = "latest"
    found = spark.readStream.format("samsa").options(**options).load()
    if given.text:
        found = found.withColumns({name: col(name).cast("string") for name in ("key", "value")})
    return found


def start(
    found: DataFrame, given: argparse.Namespace, table: Folder | IcebergTable, checkpoint: str
) -> StreamingQuery:
    writer: DataStreamWriter = found.writeStream.option("checkpointLocation", checkpoint)
    writer = writer.trigger(availableNow=True)
    if isinstance(table, IcebergTable):
        return table.start(found.sparkSession, writer)
    if given.mode == APPEND:
        return writer.format(given.format).start(str(table))
    upsert = UPSERTS[given.format]
    return writer.foreachBatch(lambda batch, _: upsert(batch, table)).start()


if __name__ == "__main__":
    sys.exit(main())
