"""ListOffsets: by place and by time, at every version."""

from typing import Any

import pytest
from server.peer import Peer
from server.talk import EARLIEST, LATEST, NOW, batch, offset_at, produce_row, write

from samsa.records.compression import Codec
from samsa.records.record import Record, build
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import list_offsets

MAX_TIMESTAMP = -3


@pytest.fixture
def timed(peer: Peer, topic: str) -> str:
    """Offsets 0 to 11 in four batches; ten seconds between batches, one between records."""
    for start in (0, 10_000, 20_000, 30_000):
        stamps = [NOW + start + 1_000 * n for n in range(3)]
        data = build(
            [Record(n, stamp, None, b"x") for n, stamp in enumerate(stamps)], codec=Codec.GZIP
        )
        peer.ask(ApiKey.PRODUCE, 9, produce_row(topic, data))
    return topic


def ask(peer: Peer, topic: str, version: int, timestamp: int, at_most: int = 1) -> Any:
    asked = list_offsets.PARTITION(partition_index=0, timestamp=timestamp, max_num_offsets=at_most)
    row = list_offsets.REQUEST(
        replica_id=-1, topics=[list_offsets.TOPIC(name=topic, partitions=[asked])]
    )
    return peer.ask(ApiKey.LIST_OFFSETS, version, row).topics[0].partitions[0]


TIMES = {
    NOW - 5_000: (0, NOW),
    NOW: (0, NOW),
    NOW + 1: (1, NOW + 1_000),
    NOW + 2_000: (2, NOW + 2_000),
    NOW + 2_001: (3, NOW + 10_000),
    NOW + 11_000: (4, NOW + 11_000),
    NOW + 31_500: (11, NOW + 32_000),
    NOW + 32_001: (-1, -1),
}


@pytest.mark.parametrize("version", [1, 3, 4, 7, 11])
def test_a_time_finds_the_first_record_at_or_after_it_inside_a_batch(
    version: int, peer: Peer, timed: str
) -> None:
    found = {at: ask(peer, timed, version, at) for at in TIMES}
    assert {at: (one.offset, one.timestamp) for at, one in found.items()} == TIMES


def test_version_0_finds_the_same_offsets_and_the_end_after_the_last(
    peer: Peer, timed: str
) -> None:
    found = {at: list(ask(peer, timed, 0, at).old_style_offsets) for at in TIMES}
    assert found == {at: [offset if offset >= 0 else 12] for at, (offset, _) in TIMES.items()}


@pytest.mark.parametrize(
    ("timestamp", "at_most", "offsets"),
    [(LATEST, 1, [12]), (LATEST, 5, [12, 0]), (EARLIEST, 1, [0]), (EARLIEST, 5, [0])],
)
def test_version_0_lists_offsets_from_the_newest_on(
    timestamp: int, at_most: int, offsets: list[int], peer: Peer, timed: str
) -> None:
    assert list(ask(peer, timed, 0, timestamp, at_most).old_style_offsets) == offsets


@pytest.mark.parametrize("version", [1, 7, 11])
def test_the_ends_of_the_log_are_found_at_every_version(
    version: int, peer: Peer, timed: str
) -> None:
    assert ask(peer, timed, version, LATEST).offset == 12
    assert ask(peer, timed, version, EARLIEST).offset == 0


def test_the_newest_record_is_the_one_with_the_greatest_timestamp(peer: Peer, topic: str) -> None:
    for stamp in (NOW, NOW + 50_000, NOW + 10):
        write(peer, topic, b"x", timestamp=stamp)
    found = offset_at(peer, topic, MAX_TIMESTAMP)
    assert (found.offset, found.timestamp) == (1, NOW + 50_000)


def test_times_are_looked_up_by_record_though_later_records_are_older(
    peer: Peer, topic: str
) -> None:
    for stamp in (NOW + 100, NOW, NOW + 50, NOW + 200):
        write(peer, topic, b"x", timestamp=stamp)
    assert offset_at(peer, topic, NOW + 40).offset == 0
    assert offset_at(peer, topic, NOW + 101).offset == 3


def test_an_empty_log_starts_and_ends_at_0_and_holds_no_time(peer: Peer, topic: str) -> None:
    assert [offset_at(peer, topic, at).offset for at in (EARLIEST, LATEST)] == [0, 0]
    assert [offset_at(peer, topic, at).offset for at in (NOW, MAX_TIMESTAMP)] == [-1, -1]


def test_batches_that_share_an_entry_are_told_apart_by_time(peer: Peer, topic: str) -> None:
    for n in range(200):
        peer.send(
            ApiKey.PRODUCE, 9, produce_row(topic, batch(b"x" * 500, timestamp=NOW + 1_000 * n))
        )
    for _ in range(200):
        peer.answer()
    for n in (0, 1, 57, 120, 199):
        assert offset_at(peer, topic, NOW + 1_000 * n).offset == n


def test_what_does_not_exist_has_no_offsets(peer: Peer, topic: str) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert offset_at(peer, topic, LATEST, partition=9).error_code == unknown
    assert offset_at(peer, "nowhere", LATEST).error_code == unknown
