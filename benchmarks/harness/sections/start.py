"""From the start of the process to the first acknowledged produce, on a log that exists and on an
empty one; and what is started for tests.

The producer waits from before the start and asks again every few milliseconds, so that what is
measured is the broker and not the client's back-off.
"""

import statistics
import tempfile
import time
from pathlib import Path

from confluent_kafka import KafkaError, Message, Producer

from harness.bench import Bench
from harness.brokers import SAMSA, Broker, Kafka
from harness.empty_brokers import (
    KFAKE,
    EphemeralSamsa,
    KFake,
    build_kfake,
    fixture_ms,
    kfake_clusters_ms,
)
from harness.process import ToolFailed, undisturbed
from harness.progress import say

TOPIC = "first"
PATIENCE_S = 120


def measure(bench: Bench) -> None:
    with bench.brokers() as brokers:
        for broker in brokers:
            # The first start makes the log and the topic; it is not measured.
            with bench.forgiving(broker, "start"):
                _first_ack(broker)
            broker.stop()
        for number in range(1, bench.plan.starts + 1):
            for broker in brokers:
                with bench.forgiving(broker, "start"):
                    seconds = _first_ack(broker)
                    bench.samples.add("start", broker.side, seconds)
                    say(f"start {number} of {bench.plan.starts}: {broker.side} {seconds:.2f} s")
                broker.stop()
    for number in range(1, bench.plan.starts + 1):
        _start_empty(bench, number)
    _start_for_tests(bench)


def _start_empty(bench: Bench, number: int) -> None:
    """Apache Kafka formats its folder first, with a Java of its own."""
    with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
        brokers = (
            EphemeralSamsa(Path(folder) / "samsa", ()),
            Kafka(Path(folder) / "kafka", (), bench.anchors),
        )
        for broker in brokers:
            _sample(bench, broker, "start.empty", number)


def _start_for_tests(bench: Bench) -> None:
    with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
        try:
            program = build_kfake(Path(folder))
        except (ToolFailed, OSError) as failure:
            bench.samples.problem(f"kfake: {failure}")
            return
        for number in range(1, bench.plan.starts + 1):
            for broker in (
                EphemeralSamsa(Path(folder) / f"samsa-{number}", ()),
                KFake(Path(folder) / f"kfake-{number}", program),
            ):
                _sample(bench, broker, "tests.start", number)
            _fixture(bench)
            for milliseconds in kfake_clusters_ms(program):
                bench.samples.add("tests.cluster", KFAKE, milliseconds)


def _sample(bench: Bench, broker: Broker, key: str, number: int) -> None:
    try:
        with bench.forgiving(broker, key):
            seconds = _first_ack(broker)
            bench.samples.add(key, broker.side, seconds)
            say(f"{key} {number} of {bench.plan.starts}: {broker.side} {seconds:.2f} s")
    finally:
        broker.stop()


def _fixture(bench: Bench) -> None:
    for mode in ("thread", "process"):
        first, cpu, clusters = fixture_ms(mode)
        bench.samples.add(f"tests.{mode}", SAMSA, first)
        say(f"fixture, {mode}: {first:.0f} ms, then {statistics.median(clusters):.1f} ms a cluster")
        if mode == "thread":
            bench.samples.add("tests.cpu", SAMSA, cpu)
            for milliseconds in clusters:
                bench.samples.add("tests.cluster", SAMSA, milliseconds)


def _first_ack(broker: Broker) -> float:
    outcomes: list[KafkaError | None] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        outcomes.append(error)

    producer = _producer(broker)
    producer.produce(TOPIC, b"hello", on_delivery=delivered)
    started = time.perf_counter()
    with undisturbed():
        broker.spawn()
    while not outcomes and time.perf_counter() - started < PATIENCE_S:
        producer.poll(1)
    seconds = time.perf_counter() - started
    if not outcomes or outcomes[0] is not None:
        producer.purge()
        raise ToolFailed(f"no acknowledgement: {outcomes or 'time is up'}")
    return seconds


def _producer(broker: Broker) -> Producer:
    return Producer(
        {
            "bootstrap.servers": broker.address,
            "broker.address.family": "v4",
            "linger.ms": 0,
            "reconnect.backoff.ms": 10,
            "reconnect.backoff.max.ms": 20,
            "retry.backoff.ms": 10,
            "topic.metadata.refresh.fast.interval.ms": 10,
            "topic.metadata.propagation.max.ms": PATIENCE_S * 1000,
            "message.timeout.ms": PATIENCE_S * 1000,
            "log_level": 0,
        }
    )
