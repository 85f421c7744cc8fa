"""Spark: batch scans, counts by key and micro-batches, through `samsa` and through the connector.

Spark reads Samsa's log from its files; Apache Kafka's through the broker, by Spark's own connector.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.bench import Bench
from harness.brokers import Broker, Samsa
from harness.process import ToolFailed, run
from harness.progress import say
from harness.rows import PARTITIONS, SPARK_SIZES
from harness.spark.fill import fill
from harness.spark.jars import connector_jars
from harness.topics import topic

JOB = Path(__file__).parents[1] / "spark" / "job.py"
FIGURE = "figure "
JOB_PATIENCE = 6
"""Of a tool's: it starts Spark and runs every job."""


def measure(bench: Bench) -> None:
    jars = connector_jars(bench.anchors)
    with bench.brokers() as brokers:
        for broker in brokers:
            say(f"spark: starting {broker.side}")
            broker.start()
        for size in SPARK_SIZES:
            for count in PARTITIONS:
                name = f"spark-{size}-{count}"
                with (
                    bench.forgiving(brokers[0], name),
                    topic(brokers[0], name, count),
                    topic(brokers[1], name, count),
                ):
                    _tables(bench, brokers, jars, name, size, count)
        with topic(brokers[0], "spark-stream"), topic(brokers[1], "spark-stream"):
            _run(bench, _spec(bench, brokers, jars, []), brokers[0])


def _tables(
    bench: Bench, brokers: Sequence[Broker], jars: list[Path], name: str, size: int, count: int
) -> None:
    records = bench.plan.spark_bytes // size
    for broker in brokers:
        say(f"spark: {records:,} records of {size} bytes, {count} partitions, to {broker.side}")
        with bench.forgiving(broker, f"filling {name}"):
            fill(broker, name, records, size)
    table = {
        "row": f"{size}.{count}",
        "topic": name,
        "records": records,
        "bytes": records * size,
    }
    _run(bench, {**_spec(bench, brokers, jars, [table]), "stream": None}, brokers[0])


def _spec(
    bench: Bench, brokers: Sequence[Broker], jars: list[Path], tables: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "jars": ",".join(map(str, jars)),
        "runs": bench.plan.runs,
        "tables": tables,
        "sides": {broker.side: _source(broker) for broker in brokers},
        "stream": {"topic": "spark-stream", "batches": bench.plan.spark_batches},
    }


def _source(broker: Broker) -> dict[str, Any]:
    if isinstance(broker, Samsa):
        data = broker.folder / "data"
        options = {"ledger": f"sqlite://{data}/ledger.db", "objects": f"file://{data}/objects"}
        return {"format": "samsa", "options": options, "bootstrap": broker.address}
    options = {"kafka.bootstrap.servers": broker.address}
    return {"format": "kafka", "options": options, "bootstrap": broker.address}


def _run(bench: Bench, spec: dict[str, Any], broker: Broker) -> None:
    def on_line(line: str) -> None:
        if line.startswith(FIGURE):
            row, side, figure = json.loads(line.removeprefix(FIGURE))
            bench.samples.add(f"spark.{row}", side, figure)
            say(f"  {row}: {side} {figure:.0f}")

    with bench.forgiving(broker, "spark"):
        command = [sys.executable, JOB, json.dumps(spec)]
        code, said = run(command, JOB_PATIENCE * bench.plan.patience_s, on_line=on_line)
        if code:
            raise ToolFailed(f"job.py ended with {code}: {said.strip()[-500:]}")
