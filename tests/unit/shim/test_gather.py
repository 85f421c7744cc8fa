"""Pieces in order, whatever order they come in; and no more memory than there is."""

import asyncio
from collections.abc import Sequence

import pytest

from samsa.broker.budget import Budget
from samsa.records import Record, build
from samsa.records.batch import shift_offsets
from samsa_websocket.envelope import Gather, UrlRange
from samsa_websocket.shim.gather import Getter, in_order, plan
from samsa_websocket.shim.transfers import TransferFailed

OBJECT = bytes(range(256)) * 4


class Source:
    """Answers the later pieces first."""

    def __init__(self, failures: int = 0, again: bool = True, data: bytes = OBJECT) -> None:
        self.data = data
        self.failures = failures
        self.again = again
        self.held = 0
        self.most_held = 0

    async def get(self, piece: UrlRange) -> bytes:
        self.held += piece.length
        self.most_held = max(self.most_held, self.held)
        await asyncio.sleep(0.01 if piece.start == 0 else 0.001)
        self.held -= piece.length
        if self.failures:
            self.failures -= 1
            raise TransferFailed("not now", self.again)
        return self.data[piece.start : piece.start + piece.length]


def cut(start: int, length: int, shift: int = 0) -> list[UrlRange]:
    """As a function cuts a long range: each part has a URL of its own."""
    return [
        UrlRange(f"u?{at}", at, min(100, start + length - at), shift)
        for at in range(start, start + length, 100)
    ]


async def gathered(pieces: Sequence[bytes | UrlRange], source: Source, memory: Budget) -> bytes:
    planned = plan(Gather(1, tuple(pieces)))
    async with in_order(planned, Getter(source.get, memory, 4)) as found:
        data = b"".join([piece async for piece in found])
    assert len(data) == planned.size
    return data


async def test_pieces_come_in_order_though_the_first_is_the_slowest():
    pieces = [b"head", *cut(0, 1000), b"", UrlRange("u", 7, 3), b"tail"]
    memory = Budget(10_000)
    found = await gathered(pieces, Source(), memory)
    assert found == b"head" + OBJECT[:1000] + OBJECT[7:10] + b"tail"
    assert memory.left == 10_000


async def test_offsets_are_shifted_though_a_batch_begins_in_one_request_and_ends_in_another():
    one = build([Record(0, 0, None, b"x" * 28)])
    whole = one * 40
    assert any(len(one) * n % 100 > 92 for n in range(40)), "an offset across two requests"
    memory = Budget(10_000)
    last = UrlRange("u", 0, len(one))
    pieces = [b"head", *cut(0, len(whole), 5), b"mid", last, b"tail"]
    found = await gathered(pieces, Source(data=whole), memory)
    assert found == b"head" + shift_offsets(whole, 5) + b"mid" + one + b"tail"
    assert memory.left == 10_000


async def test_a_shifted_range_that_holds_no_whole_batches_fails_and_is_not_asked_for_again():
    memory = Budget(999)
    one = build([Record(0, 0, None, b"x" * 33)])
    with pytest.raises(TransferFailed, match="cut") as failed:
        await gathered((UrlRange("u", 0, len(one) - 1, 5),), Source(data=one), memory)
    assert not failed.value.again
    assert memory.left == 999


async def test_memory_bounds_what_is_fetched_ahead_and_a_piece_alone_always_fits():
    source, memory = Source(), Budget(250)
    assert await gathered(cut(0, 1000), source, memory) == OBJECT[:1000]
    assert source.most_held <= 200
    assert await gathered((UrlRange("u", 0, 100),), source, Budget(10)) == OBJECT[:100]


async def test_a_passing_failure_is_tried_again():
    assert await gathered((UrlRange("u", 0, 50),), Source(failures=2), Budget(999)) == OBJECT[:50]


@pytest.mark.parametrize("source", [Source(failures=99), Source(failures=1, again=False)])
async def test_a_lasting_failure_is_raised_and_its_memory_returned(source):
    memory = Budget(999)
    with pytest.raises(TransferFailed):
        await gathered([b"head", *cut(0, 500)], source, memory)
    assert memory.left == 999


async def test_who_stops_early_leaves_nothing_behind():
    source, memory = Source(), Budget(999)
    planned = plan(Gather(1, tuple(cut(0, 1000))))
    async with in_order(planned, Getter(source.get, memory, 4)) as found:
        async for _ in found:
            break
    assert memory.left == 999
    assert len(asyncio.all_tasks()) == 1


NEIGHBOURS = {
    "of another object": UrlRange("v?2", 68, 68, 5),
    "with another shift": UrlRange("u?2", 68, 68, 6),
    "behind a gap": UrlRange("u?2", 69, 68, 5),
}


@pytest.mark.parametrize("other", NEIGHBOURS.values(), ids=NEIGHBOURS.keys())
async def test_ranges_that_are_not_parts_of_one_are_shifted_each_for_itself(other: UrlRange):
    first = UrlRange("u?1", 0, 68, 5)
    one, two = plan(Gather(1, (first, other))).pieces
    assert one.shift is not two.shift
    part, next_part = plan(Gather(1, (first, UrlRange("u?2", 68, 68, 5)))).pieces
    assert part.shift is next_part.shift
