"""Records that are deleted, and where a log begins and ends afterwards."""

from pathlib import Path
from typing import Any

import pytest
from server.administer import delete_before, sizes
from server.message_sets import messages_in
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import (
    EARLIEST,
    LATEST,
    NOW,
    append,
    batch,
    create,
    delete,
    end_of,
    everything,
    new_producer_id,
    offset_at,
    read,
    records_in,
    start_of,
    values,
    write,
)
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import delete_records, list_offsets

UP_TO_THE_END = -1
MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -3, -4, -5, -6


@pytest.fixture
def twelve(peer: Peer, topic: str) -> str:
    """A topic with offsets 0 to 11 in three batches."""
    for first in (0, 4, 8):
        write(peer, topic, *(b"%d" % n for n in range(first, first + 4)), timestamp=NOW + first)
    return topic


@pytest.mark.parametrize("version", range(3))
def test_a_log_starts_where_it_is_told(version: int, peer: Peer, twelve: str) -> None:
    assert delete_before(peer, twelve, 4, version=version) == (ErrorCode.NONE, 4)
    assert (start_of(peer, twelve), end_of(peer, twelve)) == (4, 12)
    assert values(everything(peer, twelve, offset=4))[0] == b"4"


@pytest.mark.parametrize("offset", [5, 6, 7])
def test_a_start_inside_a_batch_hides_what_is_below_it(
    offset: int, peer: Peer, twelve: str
) -> None:
    assert delete_before(peer, twelve, offset) == (ErrorCode.NONE, offset)
    below = read(peer, twelve, offset - 1)
    assert ErrorCode(below.error_code) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert below.log_start_offset == offset
    got = read(peer, twelve, offset)
    assert got.log_start_offset == offset
    # The batch comes whole, as from Kafka; clients skip to where they asked.
    assert [r.offset for r in records_in(got.records) if r.offset >= offset] == [*range(offset, 12)]


@pytest.mark.parametrize("version", [0, 2, 3])
def test_an_old_client_sees_nothing_below_the_start(version: int, peer: Peer, twelve: str) -> None:
    delete_before(peer, twelve, 6)
    got = read(peer, twelve, 6, version=version)
    assert [message.offset for message in messages_in(got.records)] == [*range(6, 12)]


def test_up_to_the_end_leaves_nothing_and_the_next_offset_as_it_was(
    peer: Peer, twelve: str
) -> None:
    assert delete_before(peer, twelve, UP_TO_THE_END) == (ErrorCode.NONE, 12)
    assert (start_of(peer, twelve), end_of(peer, twelve)) == (12, 12)
    assert sizes(peer, {twelve: [0]}) == {(twelve, 0): 0}
    assert write(peer, twelve, b"next") == 12
    assert values(everything(peer, twelve, offset=12)) == [b"next"]


def test_a_start_never_goes_back(peer: Peer, twelve: str) -> None:
    delete_before(peer, twelve, 9)
    assert delete_before(peer, twelve, 3) == (ErrorCode.NONE, 9)
    assert delete_before(peer, twelve, 0) == (ErrorCode.NONE, 9)
    assert start_of(peer, twelve) == 9


@pytest.mark.parametrize("offset", [13, -2, 2**62])
def test_what_is_not_in_the_log_is_out_of_range(
    offset: int, samsa: Samsa, peer: Peer, twelve: str
) -> None:
    assert delete_before(peer, twelve, offset) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert start_of(peer, twelve) == 0
    assert not [line for line in samsa.logged() if "failed" in line]


@pytest.mark.parametrize("timeout_ms", [0, -1, 1])
def test_a_request_without_time_is_answered_as_kafka_does_and_so_is_the_next(
    timeout_ms: int, samsa: Samsa, peer: Peer, twelve: str
) -> None:
    for _ in range(3):
        out = delete_before(peer, twelve, 99, timeout_ms=timeout_ms)
        assert out == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
        assert delete_before(peer, twelve, 4, timeout_ms=timeout_ms) == (ErrorCode.NONE, 4)
        assert start_of(peer, twelve) == 4
    assert not [line for line in samsa.logged() if "never retrieved" in line]


def test_each_partition_is_answered_on_its_own(peer: Peer, twelve: str) -> None:
    asked = [
        (twelve, [(0, 99), (0, 2), (7, 1)]),
        ("nowhere", [(0, 1)]),
    ]
    row = delete_records.REQUEST(
        topics=[
            delete_records.TOPIC(
                name=name,
                partitions=[
                    delete_records.PARTITION(partition_index=n, offset=offset)
                    for n, offset in places
                ],
            )
            for name, places in asked
        ],
        timeout_ms=10_000,
    )
    answer = peer.ask(ApiKey.DELETE_RECORDS, 2, row)
    told = [
        (ErrorCode(one.error_code), one.low_watermark)
        for topic in answer.topics
        for one in topic.partitions
    ]
    unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    assert told == [(ErrorCode.OFFSET_OUT_OF_RANGE, -1), (ErrorCode.NONE, 2), unknown, unknown]


def test_a_producer_goes_on_after_its_records_were_deleted(peer: Peer, topic: str) -> None:
    producer = {"producer_id": new_producer_id(peer), "producer_epoch": 0}
    assert append(peer, topic, batch(b"a", base_sequence=0, **producer)).base_offset == 0
    delete_before(peer, topic, UP_TO_THE_END)
    assert append(peer, topic, batch(b"b", base_sequence=1, **producer)).base_offset == 1
    assert values(everything(peer, topic, offset=1)) == [b"b"]


def test_a_producer_goes_on_at_a_process_that_never_saw_its_deleted_batch(tmp_path: Path) -> None:
    """The state that is stored says that the batch was, too: nobody has to look for it."""
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            producer = {"producer_id": new_producer_id(peer), "producer_epoch": 0}
            append(peer, "t", batch(b"a", base_sequence=0, **producer))
            delete_before(peer, "t", UP_TO_THE_END)
        samsa.kill()
        samsa.again()
        with samsa.peer() as peer:
            assert append(peer, "t", batch(b"a", base_sequence=0, **producer)).base_offset == 0
            for _ in range(2):
                told = append(peer, "t", batch(b"b", base_sequence=1, **producer))
                assert (ErrorCode(told.error_code), told.base_offset) == (ErrorCode.NONE, 1)
            assert values(everything(peer, "t", offset=1)) == [b"b"]


def test_a_start_stays_when_the_process_is_killed_and_other_processes_see_it(
    tmp_path: Path,
) -> None:
    with a_samsa(tmp_path / "one") as samsa:
        with samsa.peer() as peer:
            for first in (0, 4, 8):
                write(peer, "t", *(b"%d" % n for n in range(first, first + 4)))
            assert delete_before(peer, "t", 6) == (ErrorCode.NONE, 6)
        samsa.kill()
        samsa.again()
        data = ("--data", str(samsa.data))
        with a_samsa(tmp_path / "two", *data) as other, samsa.peer() as a, other.peer() as b:
            for peer in (a, b):
                assert start_of(peer, "t") == 6
                found = [r.offset for r in everything(peer, "t", offset=6)]
                assert [offset for offset in found if offset >= 6] == [*range(6, 12)]
            assert delete_before(b, "t", 11) == (ErrorCode.NONE, 11)
            assert start_of(a, "t") == 11


def test_deleting_and_writing_at_the_same_time_lose_nothing_that_follows(
    peer: Peer, samsa: Samsa, topic: str
) -> None:
    with samsa.peer() as deleter:
        for n in range(60):
            offset = write(peer, topic, b"%d" % n, b"%d" % n)
            code, start = delete_before(deleter, topic, offset + 1)
            assert (code, start) == (ErrorCode.NONE, offset + 1)
            got = read(peer, topic, offset + 1)
            assert [r.value for r in records_in(got.records) if r.offset > offset] == [b"%d" % n]
    assert end_of(peer, topic) == 120


def ask(peer: Peer, topic: str, timestamp: int, version: int) -> Any:
    asked = list_offsets.PARTITION(partition_index=0, timestamp=timestamp)
    row = list_offsets.REQUEST(
        replica_id=-1, topics=[list_offsets.TOPIC(name=topic, partitions=[asked])]
    )
    return peer.ask(ApiKey.LIST_OFFSETS, version, row).topics[0].partitions[0]


def test_the_places_of_a_log_after_records_were_deleted(peer: Peer, twelve: str) -> None:
    delete_before(peer, twelve, 6)
    places = {
        LATEST: (12, -1),
        EARLIEST: (6, -1),
        EARLIEST_LOCAL: (6, -1),
        LATEST_TIERED: (-1, -1),
        EARLIEST_PENDING_UPLOAD: (-1, -1),
        MAX_TIMESTAMP: (11, NOW + 11),
        NOW: (6, NOW + 6),
        NOW + 9: (9, NOW + 9),
    }
    found = {at: ask(peer, twelve, at, 11) for at in places}
    assert {at: (one.offset, one.timestamp) for at, one in found.items()} == places
    assert {one.error_code for one in found.values()} == {ErrorCode.NONE}


def test_the_newest_record_may_not_be_one_that_was_deleted(peer: Peer, topic: str) -> None:
    for stamp in (NOW + 500, NOW, NOW + 100):
        write(peer, topic, b"x", timestamp=stamp)
    delete_before(peer, topic, 1)
    found = offset_at(peer, topic, MAX_TIMESTAMP)
    assert (found.offset, found.timestamp) == (2, NOW + 100)


@pytest.mark.parametrize(
    ("timestamp", "since"),
    [
        (MAX_TIMESTAMP, 7),
        (EARLIEST_LOCAL, 8),
        (LATEST_TIERED, 9),
        (EARLIEST_PENDING_UPLOAD, 11),
    ],
)
def test_a_place_is_known_from_the_version_on_that_brought_it(
    timestamp: int, since: int, peer: Peer, twelve: str
) -> None:
    codes = {v: ErrorCode(ask(peer, twelve, timestamp, v).error_code) for v in range(1, 12)}
    early, late = ErrorCode.UNSUPPORTED_VERSION, ErrorCode.NONE
    assert codes == {v: late if v >= since else early for v in range(1, 12)}


def test_deleted_records_leave_the_folder(tmp_path: Path) -> None:
    """Objects outlive their place by a minute; a topic that is deleted goes whole at once."""
    with a_samsa(tmp_path) as samsa, samsa.peer() as peer:
        made = create(peer, "t")
        for _ in range(3):
            write(peer, "t", b"x")
        delete_before(peer, "t", UP_TO_THE_END)
        assert delete(peer, "t") == ErrorCode.NONE
        assert eventually(lambda: not samsa.objects(made.topic_id))
