"""What the plots show, counted by Spark and small enough to be drawn."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pyspark_samsa.access import opened
from pyspark_samsa.bounds import look_at
from pyspark_samsa.errors import UnknownTopic
from pyspark_samsa.options import Names
from pyspark_samsa.subscribed import subscribed

STEPS = (1, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400)
"""Seconds that one bar of a plot may stand for."""
BARS = 72
"""At most, in a plot over time."""


class Bar(NamedTuple):
    at: datetime
    records: int
    size: int


class Backlog(NamedTuple):
    """Of one partition: the offsets that the pipeline has read, and those it has not."""

    partition: int
    read: int
    waiting: int


class TimeWindow(NamedTuple):
    start: datetime
    truck: str
    positions: int
    speed: float


class MapPlace(NamedTuple):
    truck: str
    at: datetime
    latitude: float
    longitude: float
    speed: float
    heading: float


@dataclass(frozen=True, slots=True)
class PipelineFigures:
    step_s: int
    traffic: list[Bar]
    backlog: list[Backlog]
    reasons: dict[str, int]
    """Dead letters by what is wrong with them, the most frequent first."""
    unchecked: int
    """Records that are neither positions nor departures nor dead letters: a run has failed, or
    stopped, before it came to them."""
    windows: list[TimeWindow]
    places: list[MapPlace]

    @property
    def records(self) -> int:
        return sum(bar.records for bar in self.traffic)

    @property
    def size(self) -> int:
        return sum(bar.size for bar in self.traffic)

    @property
    def waiting(self) -> int:
        return sum(partition.waiting for partition in self.backlog)


def gather(
    spark: SparkSession,
    tables: Mapping[str, DataFrame],
    log: Mapping[str, str],
    topic: str,
    dead_letters: str,
) -> PipelineFigures:
    bronze = tables["bronze_trucks"].cache()
    try:
        step_s = _step(bronze)
        reasons = _reasons(spark, log, dead_letters)
        told = tables["silver_positions"].count() + sum(reasons.values())
        return PipelineFigures(
            step_s=step_s,
            traffic=_traffic(bronze, step_s),
            backlog=_backlog(bronze, log, topic),
            reasons=reasons,
            unchecked=max(0, bronze.where("value IS NOT NULL").count() - told),
            windows=_windows(tables["gold_speeds"]),
            places=_places(tables["gold_latest_positions"]),
        )
    finally:
        bronze.unpersist()


def step_for(seconds: float) -> int:
    """The shortest with which a plot of so much time has not too many bars."""
    return next((step for step in STEPS if seconds / step <= BARS), STEPS[-1])


def _step(bronze: DataFrame) -> int:
    row = bronze.agg(f.expr("unix_millis(max(timestamp)) - unix_millis(min(timestamp))")).collect()
    return step_for((row[0][0] or 0) / 1000)


def _traffic(bronze: DataFrame, step_s: int) -> list[Bar]:
    size = f.coalesce(f.octet_length("key"), f.lit(0)) + f.coalesce(
        f.octet_length("value"), f.lit(0)
    )
    rows = (
        bronze.groupBy(f.unix_millis(f.window("timestamp", f"{step_s} seconds").start).alias("at"))
        .agg(f.count("*").alias("records"), f.sum(size).alias("size"))
        .orderBy("at")
    )
    return [Bar(_moment(row["at"]), row["records"], row["size"]) for row in rows.collect()]


def _backlog(bronze: DataFrame, log: Mapping[str, str], topic: str) -> list[Backlog]:
    last = f.max("offset").alias("last")
    read = {
        row["partition"]: row["last"] + 1 for row in bronze.groupBy("partition").agg(last).collect()
    }
    return [
        Backlog(number, read.get(number, 0), max(0, end - max(start, read.get(number, 0))))
        for number, (start, end) in sorted(asyncio.run(_ends(log, topic)).items())
    ]


async def _ends(log: Mapping[str, str], topic: str) -> dict[int, tuple[int, int]]:
    async with opened(log["ledger"], log["objects"]) as access:
        partitions = await subscribed(access.ledger, Names((topic,)))
        heads = await look_at(access, partitions, read_committed=True)
    return {number: (head.log_start, head.next_offset) for (_, number), head in heads.items()}


def _reasons(spark: SparkSession, log: Mapping[str, str], topic: str) -> dict[str, int]:
    """None, too, if there is no such topic."""
    try:
        asyncio.run(_ends(log, topic))
    except UnknownTopic:
        return {}
    letters = spark.read.format("samsa").options(
        **log, subscribe=topic, includeHeaders="true", columns="headers"
    )
    reason = f.expr("string(filter(headers, h -> h.key = 'reason')[0].value)")
    kind = f.trim(f.split(reason, ":")[0]).alias("kind")
    rows = letters.load().groupBy(kind).count().orderBy(f.desc("count"), "kind").collect()
    return {row["kind"] or "no reason given": row["count"] for row in rows}


def _windows(speeds: DataFrame) -> list[TimeWindow]:
    columns = "truck_id", "positions", "average_speed_kmh"
    rows = speeds.select(f.unix_millis("window_start").alias("at"), *columns).orderBy(
        "at", *columns
    )
    return [TimeWindow(_moment(at), *rest) for at, *rest in rows.collect()]


def _places(latest: DataFrame) -> list[MapPlace]:
    columns = "latitude", "longitude", "speed_kmh", "heading"
    rows = latest.select("truck_id", f.unix_millis("event_timestamp"), *columns).orderBy("truck_id")
    return [MapPlace(truck, _moment(at), *rest) for truck, at, *rest in rows.collect()]


def _moment(ms: int) -> datetime:
    """Spark would convert it to the local time of the Python process."""
    return datetime.fromtimestamp(ms / 1000, UTC)
