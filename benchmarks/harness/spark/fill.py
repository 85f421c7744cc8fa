"""A topic of keyed records, the same on both brokers."""

from confluent_kafka import Producer

from harness.brokers import Broker
from harness.process import ToolFailed

KEYS = 10_000
FLUSH_S = 120


def fill(broker: Broker, topic: str, records: int, size: int) -> None:
    """Values of `size` bytes, one of KEYS keys each, spread over the partitions by key."""
    producer = Producer(
        {
            "bootstrap.servers": broker.address,
            "linger.ms": 50,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 500_000,
            "queue.buffering.max.kbytes": 512 * 1024,
        }
    )
    keys = [b"key-%05d" % number for number in range(KEYS)]
    value = (b"%d " % size * size)[:size]
    for number in range(records):
        while not _sent(producer, topic, keys[number % KEYS], value):
            producer.poll(0.1)
        if number % 10_000 == 0:
            producer.poll(0)
    if producer.flush(FLUSH_S):
        raise ToolFailed(f"not all of {topic} was acknowledged")


def _sent(producer: Producer, topic: str, key: bytes, value: bytes) -> bool:
    try:
        producer.produce(topic, value, key)
    except BufferError:
        return False
    return True
