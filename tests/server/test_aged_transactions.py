"""Transactions in logs that are compacted, trimmed, deleted, or read by old clients."""

from collections.abc import Iterator

import pytest
from server.administer import delete_before
from server.message_sets import messages_in
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import (
    LATEST,
    NOW,
    append,
    create,
    delete,
    end_of,
    list_offsets,
    offset_at,
    read,
    write,
)
from server.transactional import Transactional, all_values, committed, markers, read_committed
from support.waiting import eventually

from samsa.records.record import Record, build
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode


@pytest.fixture(scope="module")
def tidy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    """A broker that looks after its logs all the time, their newest end included."""
    options = ("--upkeep-interval", "0.2", "--settle-time", "0.1")
    with a_samsa(tmp_path_factory.mktemp("tidy"), *options) as samsa:
        yield samsa


@pytest.fixture
def producer(peer: Peer, new_name: str) -> Transactional:
    return Transactional(peer, f"id-{new_name}")


def keyed(key: bytes, value: bytes) -> bytes:
    return build([Record(0, NOW, key, value)])


def stable_end(peer: Peer, topic: str) -> int:
    asked = list_offsets.PARTITION(partition_index=0, timestamp=LATEST)
    row = list_offsets.REQUEST(
        replica_id=-1,
        isolation_level=1,
        topics=[list_offsets.TOPIC(name=topic, partitions=[asked])],
    )
    return peer.ask(ApiKey.LIST_OFFSETS, 7, row).topics[0].partitions[0].offset


def test_a_compacted_topic_keeps_the_newest_committed_record_of_every_key(
    tidy: Samsa, new_name: str
) -> None:
    with tidy.peer() as peer:
        create(peer, new_name, cleanup_policy="compact", min_cleanable_dirty_ratio="0.01")
        one, other = Transactional(peer, "one"), Transactional(peer, "other")
        append(peer, new_name, keyed(b"a", b"old"))
        one.put(new_name, (b"a", b"aborted"), (b"b", b"aborted"))
        other.put(new_name, (b"b", b"first"))
        assert one.end(committed=False) is ErrorCode.NONE
        assert other.end(committed=True) is ErrorCode.NONE
        one.put(new_name, (b"b", b"second"))
        assert one.end(committed=True) is ErrorCode.NONE
        other.put(new_name, (b"a", b"undecided"), (b"b", b"undecided"))
        append(peer, new_name, keyed(b"b", b"behind it"))
        expected = [b"old", b"second", b"undecided", b"undecided", b"behind it"]
        assert eventually(lambda: all_values(peer, new_name) == expected)
        assert [one.value for one in committed(peer, new_name)] == [b"old", b"second"]
        # That of the aborted transaction, and the last one of what is decided.
        assert markers(peer, new_name) == [4, 7]
        assert other.end(committed=True) is ErrorCode.NONE
        assert eventually(lambda: all_values(peer, new_name) == [b"undecided", b"behind it"])
        for offset in range(end_of(peer, new_name) + 1):
            found = [one.value for one in committed(peer, new_name, offset)]
            assert found == [b"undecided", b"behind it"][len([1 for n in (8, 10) if n < offset]) :]


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_an_old_client_gets_what_was_aborted_and_no_markers(
    version: int, peer: Peer, topic: str, producer: Transactional
) -> None:
    producer.put(topic, (b"k", b"aborted"))
    producer.end(committed=False)
    producer.put(topic, (b"k", b"committed"))
    producer.end(committed=True)
    producer.put(topic, (b"k", b"undecided"))
    found = messages_in(read(peer, topic, 0, version).records)
    assert [(one.offset, one.value) for one in found] == [
        (0, b"aborted"), (2, b"committed"), (4, b"undecided")
    ]  # fmt: skip


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_an_old_client_reads_on_behind_nothing_but_markers(
    version: int, peer: Peer, topic: str, producer: Transactional
) -> None:
    producer.put(topic, (b"k", b"first"))
    for _ in range(3):
        producer.end(committed=False)
        producer.put(topic, (b"k", b"x"))
    producer.end(committed=False)
    end = end_of(peer, topic)
    assert messages_in(read(peer, topic, end - 1, version).records) == []
    write(peer, topic, b"last")
    found = messages_in(read(peer, topic, end - 1, version, max_bytes=60).records)
    assert [(one.offset, one.value) for one in found] == [(end, b"last")]


def test_records_are_deleted_up_to_the_end_whatever_is_open(
    peer: Peer, topic: str, producer: Transactional
) -> None:
    """As in Kafka, where −1 is the high watermark."""
    producer.put(topic, (b"k", b"1"))
    write(peer, topic, b"2")
    assert delete_before(peer, topic, -1) == (ErrorCode.NONE, 2)
    assert stable_end(peer, topic) == 2
    write(peer, topic, b"3")
    got = read_committed(peer, topic, 2)
    assert (got.log_start_offset, got.last_stable_offset, got.high_watermark) == (2, 2, 3)
    assert producer.end(committed=True) is ErrorCode.NONE
    assert [one.value for one in committed(peer, topic, 2)] == [b"3"]


def test_a_transaction_ends_although_one_of_its_topics_was_deleted(
    peer: Peer, topic: str, producer: Transactional, new_name: str
) -> None:
    gone = f"{new_name}-gone"
    create(peer, gone)
    producer.put(gone, (b"k", b"1"))
    producer.put(topic, (b"k", b"2"))
    assert delete(peer, gone) == ErrorCode.NONE
    assert producer.end(committed=True) is ErrorCode.NONE
    assert [one.value for one in committed(peer, topic)] == [b"2"]
    create(peer, gone)
    assert (stable_end(peer, gone), end_of(peer, gone)) == (0, 0)
    producer.put(gone, (b"k", b"3"))
    assert producer.end(committed=True) is ErrorCode.NONE
    assert [one.value for one in committed(peer, gone)] == [b"3"]


def test_a_marker_is_found_by_its_time_as_in_kafka(
    peer: Peer, topic: str, producer: Transactional
) -> None:
    producer.put(topic, (b"k", b"1"))
    producer.end(committed=True)
    write(peer, topic, b"2", timestamp=NOW)
    found = offset_at(peer, topic, NOW + 1)
    assert found.offset == 1
    assert found.timestamp > NOW
