"""Fetch: waking, waiting, and progress whatever the limits are."""

import time
from typing import Any

import pytest
from server.peer import Peer
from server.process import Samsa
from server.talk import (
    batch,
    create,
    delete,
    describe,
    everything,
    fetch_row,
    produce_row,
    read,
    records_in,
    values,
    write,
)
from support.waiting import eventually

from samsa.records import headers
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import fetch
from samsa_broker.cli.up import MAX_FETCH_BYTES

LONG_MS = 60_000
PARTITIONS = 5


def parked(peer: Peer, *entries: tuple[str, int, int], **more: Any) -> None:
    """Send a fetch that waits for long: (topic, partition, offset)."""
    topics = [
        fetch.TOPIC(
            topic=name,
            partitions=[
                fetch.PARTITION(partition=number, fetch_offset=offset, partition_max_bytes=1 << 20)
            ],
        )
        for name, number, offset in entries
    ]
    wish = {"min_bytes": 1, **more}
    peer.send(ApiKey.FETCH, 12, fetch.REQUEST(max_wait_ms=LONG_MS, topics=topics, **wish))
    # Whether it is parked cannot be seen from outside; that it is not answered yet can.
    peer.socket.settimeout(0.2)
    with pytest.raises(TimeoutError):
        peer.socket.recv(1)
    peer.socket.settimeout(20)


@pytest.mark.parametrize("grown", range(PARTITIONS))
def test_a_fetch_over_several_partitions_wakes_when_any_of_them_grows(
    grown: int, connect: Any, new_name: str
) -> None:
    consumer, producer = connect(), connect()
    create(producer, new_name, partitions=PARTITIONS)
    parked(consumer, *((new_name, n, 0) for n in range(PARTITIONS)))
    write(producer, new_name, b"news", partition=grown)
    answer = consumer.answer()
    found = {p.partition_index: p for t in answer.responses for p in t.partitions if p.records}
    assert list(found) == [grown]
    assert values(records_in(found[grown].records)) == [b"news"]


def test_a_fetch_over_two_topics_wakes_for_the_second(connect: Any, new_name: str) -> None:
    consumer, producer = connect(), connect()
    for name in (new_name, f"{new_name}-too"):
        create(producer, name)
    parked(consumer, (new_name, 0, 0), (f"{new_name}-too", 0, 0))
    write(producer, f"{new_name}-too", b"news")
    partitions = [topic.partitions[0] for topic in consumer.answer().responses]
    assert [values(records_in(p.records)) for p in partitions] == [[], [b"news"]]


def test_fifty_consumers_that_wait_for_one_partition_all_wake(connect: Any, topic: str) -> None:
    consumers = [connect() for _ in range(50)]
    for consumer in consumers:
        consumer.send(ApiKey.FETCH, 12, fetch_row(topic, 0, wait_ms=LONG_MS))
    parked(connect(), (topic, 0, 0))
    write(connect(), topic, b"news")
    for consumer in consumers:
        got = consumer.answer().responses[0].partitions[0]
        assert values(records_in(got.records)) == [b"news"]


def test_a_fetch_waits_until_there_are_min_bytes(connect: Any, topic: str) -> None:
    consumer, producer = connect(), connect()
    parked(consumer, (topic, 0, 0), min_bytes=100_000)
    write(producer, topic, b"x" * 1_000)
    write(producer, topic, b"x" * 200_000)
    got = consumer.answer().responses[0].partitions[0]
    assert [len(value) for value in values(records_in(got.records))] == [1_000, 200_000]


def test_a_fetch_of_nothing_ends_when_its_time_is_up(peer: Peer, topic: str) -> None:
    began = time.monotonic()
    got = read(peer, topic, 0, wait_ms=300)
    assert (got.error_code, len(got.records or b"")) == (0, 0)
    assert time.monotonic() - began >= 0.29


def test_a_parked_fetch_learns_that_its_topic_was_deleted(connect: Any, topic: str) -> None:
    consumer, admin = connect(), connect()
    consumer.send(ApiKey.FETCH, 12, fetch_row(topic, 0, wait_ms=1_500))
    assert delete(admin, topic) == ErrorCode.NONE
    got = consumer.answer().responses[0].partitions[0]
    assert ErrorCode(got.error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_parked_client_that_leaves_is_let_go(samsa: Samsa, connect: Any, topic: str) -> None:
    before = samsa.metrics()["samsa_connections"]
    with samsa.peer() as leaving:
        parked(leaving, (topic, 0, 0))
    assert eventually(lambda: samsa.metrics()["samsa_connections"] <= before)


@pytest.mark.parametrize("version", [4, 11, 12])
@pytest.mark.parametrize("max_bytes", [0, 1, 500])
def test_max_bytes_below_one_batch_still_makes_progress(
    max_bytes: int, version: int, peer: Peer, topic: str
) -> None:
    sent = [b"%d" % n * 1_000 for n in range(5)]
    for value in sent:
        write(peer, topic, value)
    found, offset = [], 0
    for _ in sent:
        got = read(peer, topic, offset, version, max_bytes=max_bytes)
        assert len(headers(got.records)) == 1
        found += records_in(got.records)
        offset = found[-1].offset + 1
    assert values(found) == sent


@pytest.mark.parametrize("version", [4, 12])
def test_the_request_s_own_max_bytes_below_one_batch_still_makes_progress(
    version: int, peer: Peer, new_name: str
) -> None:
    create(peer, new_name, partitions=2)
    for number in (0, 1):
        write(peer, new_name, b"%d" % number * 1_000, partition=number)
    row = fetch_row(new_name, 0, partitions=(0, 1), max_bytes=1 << 20)
    row.max_bytes = 10
    partitions = peer.ask(ApiKey.FETCH, version, row).responses[0].partitions
    sizes = [len(records_in(p.records)) for p in partitions]
    assert sizes == [1, 0]


def test_many_small_batches_are_cut_at_max_bytes(peer: Peer, topic: str) -> None:
    for n in range(50):
        write(peer, topic, b"%04d" % n * 250)
    got = read(peer, topic, 10, max_bytes=5_500)
    assert 0 < len(got.records) <= 5_500
    assert records_in(got.records)[0].offset == 10


def test_an_answer_is_no_larger_than_the_broker_wants_it_whatever_is_asked_for(
    peer: Peer, new_name: str
) -> None:
    """Nor does anyone wait for more than that."""
    create(peer, new_name, partitions=3)
    for number in range(18):
        write(peer, new_name, bytes(1_000_000), partition=number % 3)
    row = fetch_row(new_name, 0, range(3), wait_ms=LONG_MS, min_bytes=2 * MAX_FETCH_BYTES)
    row.max_bytes = 1 << 30
    partitions = peer.ask(ApiKey.FETCH, 12, row).responses[0].partitions
    sizes = [len(p.records) for p in partitions]
    assert [size // 1_000_000 for size in sizes] == [6, 6, 4]
    assert sum(sizes) <= MAX_FETCH_BYTES
    assert [p.high_watermark for p in partitions] == [6, 6, 6]


def test_an_offset_within_a_batch_gets_the_whole_batch(peer: Peer, topic: str) -> None:
    write(peer, topic, b"a", b"b", b"c")
    write(peer, topic, b"d")
    got = read(peer, topic, 2)
    assert [record.offset for record in records_in(got.records)] == [0, 1, 2, 3]


def test_pipelined_batches_can_be_read_from_every_one_of_their_offsets(
    peer: Peer, topic: str
) -> None:
    """They share commits, so that most of these offsets lie within an object."""
    for n in range(300):
        peer.send(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"%d" % n * 300)))
    for _ in range(300):
        peer.answer()
    for offset in range(0, 300, 7):
        found = [r for r in records_in(read(peer, topic, offset).records) if r.offset >= offset]
        assert [record.offset for record in found] == list(range(offset, 300))


def test_topics_by_id_are_read_as_topics_by_name(peer: Peer, topic: str) -> None:
    write(peer, topic, b"by id")
    topic_id = describe(peer, topic).topics[0].topic_id
    row = fetch_row("", 0)
    row.topics[0].topic_id = topic_id
    for version in (13, 18):
        got = peer.ask(ApiKey.FETCH, version, row).responses[0]
        assert got.topic_id == topic_id
        assert values(records_in(got.partitions[0].records)) == [b"by id"]


def test_what_is_read_twice_is_the_same_bytes(peer: Peer, topic: str) -> None:
    for n in range(20):
        write(peer, topic, b"%d" % n)
    first = bytes(read(peer, topic, 0).records)
    assert bytes(read(peer, topic, 0).records) == first
    assert len(everything(peer, topic)) == 20
