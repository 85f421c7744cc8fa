"""Kafka Streams with exactly_once_v2: how long it takes until all words of some lines are counted.

The program is the one of tests/frameworks. Without a cache each word leads to one record of the
output, so all words are counted when as many committed records are there.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from harness.brokers import Broker
from harness.process import ToolFailed

REPOSITORY = Path(__file__).resolve().parents[2]
PARTITIONS = 3
WORDS = [f"word-{number}" for number in range(1_000)]
IN_A_LINE = 5
PATIENCE_S = 120.0
SETTINGS = """\
application.id={name}
bootstrap.servers={bootstrap}
state.dir={folder}
processing.guarantee=exactly_once_v2
num.stream.threads=1
commit.interval.ms=100
statestore.cache.max.bytes=0
auto.offset.reset=earliest
"""


def count_words(broker: Broker, lines: str, counts: str, number: int) -> float:
    """Seconds from the first line to the last count. The program runs already: it has counted one
    line of each partition before. Raises ToolFailed."""
    sys.path.append(str(REPOSITORY / "tests"))
    from frameworks.programs import Program

    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "settings"
        settings.write_text(
            SETTINGS.format(name=f"{lines}-words", bootstrap=broker.address, folder=folder)
        )
        program = Program("WordCount", [str(settings), lines, counts], Path(folder) / "log")
        reader = _reader(broker, counts)
        program.start()
        try:
            _produce(broker, lines, PARTITIONS)
            _read(reader, PARTITIONS * IN_A_LINE)
            began = time.perf_counter()
            _produce(broker, lines, number)
            _read(reader, number * IN_A_LINE)
            return time.perf_counter() - began
        finally:
            reader.close()
            program.stop()


def _produce(broker: Broker, topic: str, number: int) -> None:
    draws = random.Random(number)
    producer = Producer({"bootstrap.servers": broker.address, "linger.ms": 5, "log_level": 3})
    for line in range(number):
        words = " ".join(draws.choices(WORDS, k=IN_A_LINE))
        producer.produce(topic, words, partition=line % PARTITIONS)
    if producer.flush(PATIENCE_S):
        raise ToolFailed("lines were not acknowledged")


def _reader(broker: Broker, topic: str) -> Consumer:
    reader = Consumer(
        {
            "bootstrap.servers": broker.address,
            "group.id": f"{topic}-reader",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "log_level": 3,
        }
    )
    reader.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    return reader


def _read(reader: Consumer, wanted: int) -> None:
    got, deadline = 0, time.monotonic() + PATIENCE_S
    while got < wanted:
        if time.monotonic() > deadline:
            raise ToolFailed(f"{got} of {wanted} words were counted")
        got += sum(message.error() is None for message in reader.consume(10_000, 0.2))
