"""Kafka's own Java tools on their defaults, and one consumer of ours that needs no group."""

import re

from .bench import Bench
from .brokers import Broker
from .process import ToolFailed, run

STEADY = re.compile(r"steady state records sent, ([\d.]+) records/sec")
CONSUMED = re.compile(r"^\d{4}-.*?(?:, [\d.]+){2}, (\d+), [\d.]+, \d+, (\d+), ", re.MULTILINE)
TRANSACTED = re.compile(r"^records=(\d+) ms=(\d+)$", re.MULTILINE)
ASSIGNED = re.compile(r"^records=(\d+) bytes=(\d+) ms=(\d+)$", re.MULTILINE)
MEAN = re.compile(r"Avg latency: ([\d.]+) ms")
P99 = re.compile(r"99th = (\d+)")


def produce(bench: Bench, broker: Broker, topic: str, size: int) -> float:
    """MB/s once warm."""
    count = bench.plan.java_records[size]
    sized = ["--num-records", str(count), "--record-size", str(size), "--throughput", "-1"]
    said = _ktool(
        bench, broker, topic, "ProducerPerformance", *sized, "--warmup-records", str(count // 4)
    )
    return float(_find(STEADY, said).group(1)) * size / 1e6


def produce_in_transactions(bench: Bench, broker: Broker, topic: str, size: int) -> float:
    """MB/s once warm, with a commit every 100 ms."""
    count = bench.plan.java_records[size]
    said = _ktool(
        bench, broker, topic, "ProducerPerformance",
        "--num-records", str(count), "--record-size", str(size), "--throughput", "-1",
        "--warmup-records", str(count // 4),
        "--transactional-id", f"{topic}-java", "--transaction-duration-ms", "100",
    )  # fmt: skip
    return float(_find(STEADY, said).group(1)) * size / 1e6


def produce_each(bench: Bench, broker: Broker, topic: str, size: int, each: int) -> float:
    """MB/s once warm, with a commit every `each` records."""
    count = bench.plan.java_records[size]
    command = bench.anchors.java_class("TransactionalProducer")
    asked = [broker.address, topic, str(count), str(size), str(each)]
    _, said = run([*command, *asked], bench.plan.patience_s)
    records, ms = map(int, _find(TRANSACTED, said).groups())
    return records * size / 1e3 / ms


def consume_in_group(bench: Bench, broker: Broker, topic: str, size: int) -> float:
    """MB/s of fetching: the time to join the group is taken off, as the tool itself does."""
    count = bench.plan.java_records[size]
    said = _ktool(
        bench, broker, topic, "ConsumerPerformance", "--num-records", str(count), "--hide-header"
    )
    found = _find(CONSUMED, said)
    records, ms = int(found.group(1)), int(found.group(2))
    if records < count or ms == 0:
        raise ToolFailed(f"{records} of {count} records in {ms} ms")
    return records * size / 1e3 / ms


def consume_assigned(bench: Bench, broker: Broker, topic: str, size: int) -> float:
    count = bench.plan.java_records[size]
    command = bench.anchors.java_class("AssignedConsumer")
    _, said = run([*command, broker.address, topic, str(count)], bench.plan.patience_s)
    records, size_read, ms = map(int, _find(ASSIGNED, said).groups())
    if records < count or ms == 0:
        raise ToolFailed(f"{records} of {count} records in {ms} ms")
    return size_read / 1e3 / ms


def end_to_end(bench: Bench, broker: Broker, topic: str) -> tuple[float, float]:
    """Mean and p99 in ms."""
    count = str(bench.plan.java_latencies)
    said = _ktool(
        bench, broker, topic, "EndToEndLatency",
        "--num-records", count, "--producer-acks", "all", "--record-size", "1024",
    )  # fmt: skip
    return float(_find(MEAN, said).group(1)), float(_find(P99, said).group(1))


def _ktool(bench: Bench, broker: Broker, topic: str, tool: str, *options: str) -> str:
    where = ["--bootstrap-server", broker.entrance.address, "--topic", topic]
    if broker.entrance.java is not None:
        where += ["--command-config", str(broker.entrance.java)]
    _, said = run([bench.anchors.ktool, tool, *where, *options], bench.plan.patience_s)
    return said


def _find(pattern: re.Pattern[str], said: str) -> re.Match[str]:
    found = pattern.search(said)
    if found is None:
        raise ToolFailed(f"no figure in: {said.strip()[-500:]}")
    return found
