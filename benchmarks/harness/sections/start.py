"""From the start of the process to the first acknowledged produce, on a log that exists.

The producer waits from before the start and asks again every few milliseconds, so that what is
measured is the broker and not the client's back-off.
"""

import time

from confluent_kafka import KafkaError, Message, Producer

from harness.bench import Bench
from harness.brokers import Broker
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
