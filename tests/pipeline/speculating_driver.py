"""Spark on two hosts, of which one is slow: a copy of its task is started, and wins. A program.

Spark starts copies on another host only. Here the hosts are two addresses of this machine, each
with a worker of Spark's own cluster manager; master and workers live in the driver's Java.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyspark
from pipeline.conftest import SHORT_LIVED
from pyspark import SparkContext, TaskContext
from pyspark.sql import SparkSession

from pyspark_samsa.java import use_java
from pyspark_samsa.session import DEFAULTS

HOSTS = "127.0.0.1", "127.0.0.2"
SLOW = 0
"""The partition whose first attempt never comes to an end by itself."""
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.efficiency.enabled": "false",
    # A batch of Arrow goes on when it is full, and the sink is to see the first rows early.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": SHORT_LIVED["spark.driver.extraJavaOptions"],
}
FIRST_ROW = b"0 0 \0"
FOREVER_S = 600


def a_cluster(folder: Path) -> str:
    """Its address."""
    SparkContext._ensure_initialized()
    jvm: Any = SparkContext._jvm
    conf = jvm.org.apache.spark.SparkConf()
    deploy = jvm.org.apache.spark.deploy
    master = deploy.master.Master.startRpcEnvAndEndpoint(HOSTS[0], 0, 0, conf)._1()
    url = f"spark://{HOSTS[0]}:{master.address().port()}"
    masters = SparkContext._gateway.new_array(jvm.java.lang.String, 1)
    masters[0] = url
    for number, host in enumerate(HOSTS):
        deploy.worker.Worker.startRpcEnvAndEndpoint(
            host, 0, 0, 1, 1024, masters, str(folder / host),
            jvm.scala.Option.apply(number), conf, jvm.scala.Option.empty(),
        )  # fmt: skip
    return url


def a_session(url: str) -> SparkSession:
    builder = SparkSession.builder.appName("speculating").master(url)
    for name, value in {**DEFAULTS, **SHORT_LIVED, **SPECULATION}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def noted(objects: Path, folder: Path) -> Any:
    """Rows as they are; and for each attempt that has got all of them a file, which says who has
    staged the slow task's first row by then. The slow one waits until it has itself, and then
    hangs; its copy until both have."""

    def writers() -> set[str]:
        """By the names of their objects."""
        staged = objects.glob("sink/*/*/data/*")
        return {path.name.rpartition("-")[0] for path in staged if FIRST_ROW in path.read_bytes()}

    def note(name: str, at_least: int) -> None:
        for _ in range(FOREVER_S):
            if len(found := writers()) >= at_least:
                (folder / name).write_text(" ".join(found))
                return
            time.sleep(0.5)

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        context = TaskContext.get()
        partition, attempt = context.partitionId(), context.attemptNumber()
        yield from batches
        note(f"{partition}-{attempt}", attempt + 1 if partition == SLOW else 0)
        if partition == SLOW and attempt == 0:
            time.sleep(FOREVER_S)

    return rows


def main(ledger: str, objects: str, source: str, target: str, folder: str, of_a_task: str) -> None:
    use_java()
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    home, attempts = Path(folder), Path(folder) / "attempts"
    attempts.mkdir()
    spark = a_session(a_cluster(home / "work"))
    stores = {"ledger": ledger, "objects": objects}
    read = {"subscribe": source, "startingOffsets": "earliest", "maxBytesPerPartition": of_a_task}
    rows = spark.readStream.format("samsa").options(**stores, **read).load().select("value")
    noting = noted(Path(urlsplit(objects).path), attempts)
    query = (
        rows.mapInArrow(noting, rows.schema)
        .writeStream.format("samsa")
        .options(**stores, topic=target, checkpointLocation=str(home / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
