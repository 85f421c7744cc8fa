"""Topics as jobs read them: all that there is now, or the records of some time."""

import argparse
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession


def add_where(parser: argparse.ArgumentParser, what: str = "records") -> None:
    parser.add_argument(
        "--where", metavar="SQL",
        help=f"only {what} for which this holds; its columns are key, value, topic, partition,"
        " offset and timestamp. Key and value are bytes: \"string(key) like 'eu-%%'\"",
    )  # fmt: skip


def records(
    spark: SparkSession,
    log: Mapping[str, str],
    topic: str,
    since: int | None = None,
    until: int | None = None,
    where: str | None = None,
    columns: Sequence[str] | None = None,
) -> DataFrame:
    options = {**log, "subscribe": topic}
    if since is not None:
        options["startingTimestamp"] = str(since)
        options["startingOffsetsByTimestampStrategy"] = "latest"
    if columns is not None:
        options["columns"] = ",".join(columns)
    found = spark.read.format("samsa").options(**options).load()
    # Times need not rise with offsets. No record before the first that is recent enough is recent
    # enough; but after it, and after the first that is too late, there are both kinds.
    if since is not None:
        found = found.where(f"timestamp >= timestamp_millis({since})")
    if until is not None:
        found = found.where(f"timestamp < timestamp_millis({until})")
    return found if where is None else found.where(where)
