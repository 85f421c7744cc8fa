"""Writes rows to a topic: in order, and once for each id."""

import argparse
import asyncio
import hashlib
from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql.functions import coalesce, col, count

from pyspark_samsa.jobs.progress import progress
from pyspark_samsa.jobs.running import summary
from pyspark_samsa.sink.options import SinkOptions, read_sink_options
from pyspark_samsa.sink.topics import named_turn
from pyspark_samsa.sink.turns import DONE, left_by
from samsa.runtime.store_urls import open_objects

WRITTEN = "key", "value", "headers"


def add_sending(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--id", metavar="NAME",
        help="of this job: what was written under it is not written again (one made of what it"
        " reads and writes, so that the same command is the same job)",
    )  # fmt: skip
    parser.add_argument(
        "--keep-partitions", action="store_true",
        help="into the partitions of the column `partition`, rather than by key",
    )  # fmt: skip
    parser.add_argument(
        "--keep-times", action="store_true",
        help="with the times of the column `timestamp`, rather than those of their writing",
    )  # fmt: skip
    parser.add_argument(
        "--compression", choices=("none", "gzip", "snappy", "lz4", "zstd"), default="lz4",
        help="of the batches (%(default)s)",
    )  # fmt: skip


def job_id(job: str, *parts: object) -> str:
    """The same for the same command."""
    return f"{job}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def in_order(rows: DataFrame, order: Sequence[str], keep_partitions: bool) -> DataFrame:
    """Rows that must keep their order go through one task: those of a partition, or else of a
    key."""
    if not order:
        return rows
    return rows.repartition(_together(rows, keep_partitions)).sortWithinPartitions(*order)


def _together(rows: DataFrame, keep_partitions: bool) -> Column:
    if keep_partitions or "key" not in rows.columns:
        return col("partition")
    key = col("key").cast("binary")
    if "partition" not in rows.columns:
        return key
    return coalesce(key, col("partition").cast("string").cast("binary"))


def send(
    spark: SparkSession,
    rows: DataFrame,
    log: Mapping[str, str],
    given: argparse.Namespace,
    name: str,
    what: str,
) -> int:
    """Write the rows with the columns that the sink knows; other columns are dropped."""
    options = {
        **log,
        "topic": given.topic,
        "txnAppId": name,
        "txnVersion": "0",
        "includeTimestamp": str(given.keep_times).lower(),
        "kafka.compression.type": given.compression,
    }
    if asyncio.run(_is_done(read_sink_options(options, streaming=False))):
        summary(job=f"{name} was done before: nothing was written", topic=given.topic)
        return 0
    wanted = [*WRITTEN, *_kept(given)]
    chosen = rows.select(*(column for column in wanted if column in rows.columns))
    seen = Observation()
    counted = chosen.observe(seen, count("*").alias("records"))
    with progress(spark, what):
        counted.write.format("samsa").options(**options).mode("append").save()
    summary(job=name, topic=given.topic, records=seen.get["records"])
    return 0


def _kept(given: argparse.Namespace) -> list[str]:
    return ["partition"] * given.keep_partitions + ["timestamp"] * given.keep_times


async def _is_done(options: SinkOptions) -> bool:
    """Checked first, so that a finished job does not read all rows again."""
    assert options.named is not None
    turn = await named_turn(options, options.named)
    objects = open_objects(options.objects, fsync=False, cache_bytes=0)
    try:
        found = [left_by(turn, key) async for key in objects.list(turn.folder)]
        return any(left.kind == DONE for left in found)
    finally:
        await objects.close()
