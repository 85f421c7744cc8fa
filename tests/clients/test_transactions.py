"""Transactions of every client, one inside the other, as all other clients read them."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
from clients.adapters.confluent import Confluent
from clients.client import Client, Isolation, Record
from clients.registry import NAMES, Clients
from clients.transactional import WITH_OFFSETS, WRITERS, At, Producers, Transactor
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from support.broker import Broker

PARTITIONS = 2
ROUNDS = 3
TIMEOUT_MS = 1_500
LATE_S = 2.0
"""How much longer than the time-out a reader may wait."""
FENCED = r"(?i)fenced|newer|epoch"

NewTopic = Callable[..., str]
NewName = Callable[[], str]


@pytest.fixture(scope="module")
def producers(clients: Clients, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Producers]:
    made = Producers(clients, tmp_path_factory.mktemp("producers") / "sarama.log")
    yield made
    made.close()


class History(NamedTuple):
    """What was written to two topics, in the order of each partition."""

    topics: tuple[str, str]
    written: list[tuple[str, bool]]
    """The same values in every partition; whether they are to be read by read_committed."""

    def values(self, isolation: Isolation) -> list[str]:
        return [value for value, kept in self.written if kept or isolation == "read_uncommitted"]


@pytest.fixture(scope="module")
def history(producers: Producers, new_topic: NewTopic, new_name: NewName) -> History:
    """Each client commits and aborts in turn, in four partitions, while the others do."""
    topics = new_topic(PARTITIONS), new_topic(PARTITIONS)
    places = [(topic, partition) for topic in topics for partition in range(PARTITIONS)]
    writers = {name: producers.open(name, new_name()) for name in WRITERS}
    written: list[tuple[str, bool]] = []
    for turn in range(ROUNDS):
        write_plain(producers, places, f"plain before round {turn}")
        written.append((f"plain before round {turn}", True))
        commits = {name: (turn + number) % 2 == 0 for number, name in enumerate(WRITERS)}
        for name, writer in writers.items():
            writer.begin()
            values = [f"{name} in round {turn}, {part}" for part in ("first", "second")]
            writer.send(places, values)
            written += [(value, commits[name]) for value in values]
        # Not in the order in which they began: the last stable offset moves in leaps.
        for name in sorted(WRITERS):
            writers[name].commit() if commits[name] else writers[name].abort()
    write_plain(producers, places, "the end")
    written.append(("the end", True))
    return History(topics, written)


def write_plain(producers: Producers, places: list[At], value: str) -> None:
    for topic, partition in places:
        plain = Confluent(producers.clients.bootstrap)
        plain.produce(topic, [Record(None, value.encode())], partition=partition)


def read(client: Client, topic: str, count: int, isolation: Isolation) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for record in client.consume(topic, "earliest", count, isolation=isolation):
        assert record.partition is not None
        assert record.value is not None
        found.setdefault(record.partition, []).append(record.value.decode())
    return found


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("name", NAMES)
def test_a_reader_sees_the_transactions_of_all_clients_as_its_isolation_level_says(
    client: Client, isolation: Isolation, history: History
) -> None:
    expected = history.values(isolation)
    for topic in history.topics:
        found = read(client, topic, PARTITIONS * len(expected), isolation)
        assert found == dict.fromkeys(range(PARTITIONS), expected)


@pytest.mark.parametrize("writer", WITH_OFFSETS)
def test_offsets_of_a_group_become_real_with_their_transaction_and_not_without(
    writer: str, producers: Producers, broker: Broker, new_topic: NewTopic, new_name: NewName
) -> None:
    topic, group = new_topic(), new_name()
    producer = producers.open(writer, new_name())
    told = []
    for offset, ends in ((5, "abort"), (7, "commit"), (9, "abort"), (11, "commit")):
        producer.begin()
        producer.send([(topic, 0)], [f"transformed up to {offset}"])
        producer.send_offset(group, topic, offset)
        getattr(producer, ends)()
        told.append(committed_offset(broker, group, topic))
    assert told == [None, 7, 7, 11]


def committed_offset(broker: Broker, group: str, topic: str) -> int | None:
    admin = Confluent(broker.bootstrap).admin()
    asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])
    told = admin.list_consumer_group_offsets([asked], require_stable=True)[group].result()
    offset: int = told.topic_partitions[0].offset
    return offset if offset >= 0 else None


@pytest.mark.parametrize("writer", WRITERS)
def test_a_second_instance_fences_the_first_and_what_that_had_not_committed_is_gone(
    writer: str, producers: Producers, new_topic: NewTopic, new_name: NewName
) -> None:
    topic, transactional_id = new_topic(), new_name()
    first = producers.open(writer, transactional_id)
    first.begin()
    first.send([(topic, 0)], ["of the first, before"])
    second = producers.open("confluent" if writer != "confluent" else "java", transactional_id)
    with pytest.raises(Exception, match=FENCED):
        send_and_commit(first, topic)
    second.begin()
    second.send([(topic, 0)], ["of the second"])
    second.commit()
    reader = producers.clients["confluent"]
    assert read(reader, topic, 1, "read_committed") == {0: ["of the second"]}


def send_and_commit(producer: Transactor, topic: str) -> None:
    producer.send([(topic, 0)], ["of the first, after"])
    producer.commit()


class LeftOpen(NamedTuple):
    waited: dict[str, float]
    """Seconds that a reader waited for the record behind the open transaction, by client."""
    producers: dict[str, Transactor]


@pytest.fixture(scope="module")
def left_open(producers: Producers, new_topic: NewTopic, new_name: NewName) -> LeftOpen:
    """Each client leaves a transaction open in a partition of its own, all at the same time."""
    topic = new_topic(len(WRITERS))
    opened = {name: producers.open(name, new_name(), TIMEOUT_MS) for name in WRITERS}
    with ThreadPoolExecutor(len(WRITERS)) as pool:
        waits = {}
        for partition, (name, producer) in enumerate(opened.items()):
            producer.begin()
            producer.send([(topic, partition)], ["never committed"])
            write_plain(producers, [(topic, partition)], "behind it")
            reader = producers.clients["confluent"]
            waits[name] = pool.submit(wait_for_the_next, reader, topic, partition)
    return LeftOpen({name: wait.result() for name, wait in waits.items()}, opened)


def wait_for_the_next(reader: Client, topic: str, partition: int) -> float:
    began = time.monotonic()
    (found,) = reader.consume(topic, "earliest", 1, partition, "read_committed")
    assert found.value == b"behind it"
    return time.monotonic() - began


@pytest.mark.parametrize("writer", WRITERS)
def test_a_transaction_that_is_left_open_releases_its_readers_soon_after_its_time_out(
    writer: str, left_open: LeftOpen
) -> None:
    assert left_open.waited[writer] < TIMEOUT_MS / 1000 + LATE_S


@pytest.mark.parametrize("writer", WRITERS)
def test_a_transaction_that_timed_out_can_not_be_committed(
    writer: str, left_open: LeftOpen
) -> None:
    with pytest.raises(Exception, match=r"\w"):
        left_open.producers[writer].commit()
