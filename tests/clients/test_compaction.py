"""A compacted topic, read by every client; and Kafka's own test of compaction.

The broker compacts all the time, right up to the newest record: what Apache Kafka would leave alone
as its active segment is cleaned here while the clients write and read.
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from clients.client import CODECS, Record
from clients.kafka_tools import KafkaTools
from clients.registry import NAMES, Clients
from support.broker import Broker, samsa_up
from support.waiting import eventually

KEYS = 20
BEGAN = int(time.time() * 1000) - 3_600_000
CONFIG = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}


@pytest.fixture(scope="module")
def tidy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    options = ("--upkeep-interval", "0.2", "--settle-time", "0.1")
    with samsa_up(tmp_path_factory.mktemp("tidy"), *options) as running:
        yield running


@pytest.fixture(scope="module")
def readers(tidy: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    made = Clients(tidy.bootstrap, tmp_path_factory.mktemp("clients"))
    yield made
    made.close()


def update(number: int) -> Record:
    """Every key again and again; some are deleted in the end."""
    key, value = number % KEYS, f"value {number}".encode()
    deleted = number >= 4 * len(CODECS) * KEYS and key % 5 == 0
    return Record(f"key-{key}".encode(), None if deleted else value, timestamp=BEGAN + number)


@pytest.fixture(scope="module")
def changelog(readers: Clients) -> tuple[str, list[Record]]:
    """A topic that was written to in every codec, and the newest record of every key."""
    writer, topic, number = readers["confluent"], "changelog", 0
    writer.create_topic(topic, 1, CONFIG)
    newest: dict[bytes, Record] = {}
    for _ in range(5):
        for codec in CODECS:
            written = [update(number + n) for n in range(KEYS)]
            number += KEYS
            for offset, one in zip(
                writer.produce(topic, written, codec, partition=0), written, strict=True
            ):
                newest[one.key] = Record(one.key, one.value, (), one.timestamp, 0, offset)
    expected = sorted(newest.values(), key=lambda record: record.offset)
    assert eventually(lambda: writer.consume(topic, "earliest", KEYS, 0) == expected, seconds=60)
    return topic, expected


@pytest.mark.parametrize("name", NAMES)
def test_who_reads_a_changelog_from_the_start_gets_the_newest_of_every_key(
    name: str, readers: Clients, changelog: tuple[str, list[Record]]
) -> None:
    topic, expected = changelog
    assert readers[name].consume(topic, "earliest", KEYS, 0) == expected
    # A place that was compacted away is no error either: reading goes on behind it.
    later = [record for record in expected if record.timestamp >= expected[7].timestamp]
    assert readers[name].consume(topic, expected[7].timestamp, len(later), 0) == later


def test_kafkas_own_test_of_compaction_passes(tidy: Broker, tmp_path: Path) -> None:
    # Once, in two topics: whatever it reads, it ends with waiting for more for twenty seconds.
    tools = KafkaTools((tmp_path / "log").open("w"))
    try:
        said = tools.run(
            "compaction", tidy.bootstrap, "--messages", "60000", "--duplicates", "20",
            "--topics", "2", "--percent-deletes", "20", "--compression-type", "lz4",
            "--sleep", "2",
        )  # fmt: skip
    finally:
        tools.close()
    assert said.status == 0, said
    assert said.out[-1] == "Data verification is completed"
    # Nothing would be verified if nothing had been compacted.
    (rows,) = [re.findall(r"(\d+) rows", line) for line in said.out if "rows of data" in line]
    produced, consumed = map(int, rows)
    assert consumed < produced // 2
    assert any(re.match(r"Validated [1-9]\d* values, 0 mismatches", line) for line in said.out)
