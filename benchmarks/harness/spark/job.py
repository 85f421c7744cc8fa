"""The program that Spark runs: reads a specification, prints a line of JSON for each figure.

One session for both sides, which take turns, so that whatever is compiled or warm is so for both.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count, length
from pyspark.sql.functions import sum as total

from pyspark_samsa.session import local_session

PATIENCE_S = 60


def main() -> None:
    spec = json.loads(sys.argv[1])
    conf = {"spark.jars": spec["jars"], "spark.driver.memory": "2g"}
    spark = local_session("bench", conf=conf)
    spark.sparkContext.setLogLevel("ERROR")
    for table in spec["tables"]:
        _tables(spark, spec, table)
    for _ in range(spec["runs"] if spec["stream"] else 0):
        for side, source in spec["sides"].items():
            for milliseconds in _micro_batches(spark, source, spec["stream"]):
                _say("stream", side, milliseconds)
    spark.stop()


def _tables(spark: SparkSession, spec: dict[str, Any], table: dict[str, Any]) -> None:
    jobs: dict[str, Callable[[DataFrame], int]] = {"scan": _scan, "keys": _count_by_key}
    for run in range(spec["runs"] + 1):  # the first one warms up
        for side, source in spec["sides"].items():
            frame = _frame(spark.read, source, table["topic"])
            for name, job in jobs.items():
                started = time.perf_counter()
                found = job(frame)
                seconds = time.perf_counter() - started
                if found != table["records"]:
                    raise SystemExit(f"{side} {name}: {found} records, not {table['records']}")
                if run:
                    _say(f"{name}.{table['row']}", side, table["bytes"] / 1e6 / seconds)
            if not run:
                _say(f"tasks.{table['row']}", side, frame.rdd.getNumPartitions())


def _frame(reader: Any, source: dict[str, Any], topic: str) -> DataFrame:
    frame: DataFrame = (
        reader.format(source["format"]).options(**source["options"], subscribe=topic).load()
    )
    return frame


def _scan(frame: DataFrame) -> int:
    (row,) = frame.agg(count("*"), total(length("value"))).collect()
    return int(row[0])


def _count_by_key(frame: DataFrame) -> int:
    (row,) = frame.groupBy("key").count().agg(total("count")).collect()
    return int(row[0])


def _micro_batches(
    spark: SparkSession, source: dict[str, Any], stream: dict[str, Any]
) -> list[float]:
    """Milliseconds of each batch of one record, as Spark itself reports them."""
    producer = Producer({"bootstrap.servers": source["bootstrap"], "linger.ms": 0})
    frame = _frame(spark.readStream, source, stream["topic"])
    query = frame.writeStream.format("noop").trigger(processingTime="0 seconds").start()
    try:
        _until(lambda: query.lastProgress is not None)
        for number in range(stream["batches"] + 1):
            producer.produce(stream["topic"], b"%d" % number)
            producer.flush(PATIENCE_S)
            _until(lambda number=number: len(_busy(query)) > number)
        return [one["durationMs"]["triggerExecution"] for one in _busy(query)[1:]]
    finally:
        query.stop()


def _busy(query: Any) -> list[Any]:
    return [progress for progress in query.recentProgress if progress["numInputRows"]]


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > deadline:
            raise SystemExit("a micro-batch did not come")
        time.sleep(0.02)


def _say(row: str, side: str, figure: float) -> None:
    print(f"figure {json.dumps([row, side, figure])}", flush=True)


if __name__ == "__main__":
    main()
