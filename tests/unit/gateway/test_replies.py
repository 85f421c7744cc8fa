"""A fetch whose records lie partly in the ledger and partly in objects: what goes where."""

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.records.strategies import examples

from samsa.local.memory import MemoryObjects
from samsa.records import Record, build, headers
from samsa.records.batch import assign
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import KafkaRequest, read_request, read_response, request_frame
from samsa.wire.messages import fetch
from samsa_websocket.envelope import Frame, Gather, Message, Reply, UrlRange, decode, fits
from samsa_websocket.gateway.object_ranges import ObjectRange
from samsa_websocket.gateway.replies import PART, ReplyTexts
from samsa_websocket.shim.gather import plan, shifted

VERSION = 12
SPILL = "spill/responses/one"
SHIFT = 11
KILOBYTE = 1024


class Presigner:
    """URLs that are keys, as long as S3's."""

    async def get(self, key: str, start: int, length: int) -> str:
        return f"{key}?{start}+{length}{'s' * 500}"


def request() -> KafkaRequest:
    asked = fetch.PARTITION(partition=0, fetch_offset=0, partition_max_bytes=1 << 25)
    row = fetch.REQUEST(topics=[fetch.TOPIC(topic="letters", partitions=[asked])])
    return read_request(memoryview(request_frame(APIS[ApiKey.FETCH], VERSION, 7, "t", row)[4:]))


class Given:
    """Partitions with pieces in the ledger and pieces in objects, all of one batch each."""

    def __init__(self) -> None:
        self.objects = MemoryObjects()
        self.replies = ReplyTexts(self.objects, Presigner())  # type: ignore[arg-type]

    async def row(self, partitions: Sequence[Sequence[tuple[int, bool]]]) -> Any:
        """Each piece is (bytes of its value, whether it is an object's)."""
        entries = []
        for number, pieces in enumerate(partitions):
            records = [await self._piece(number, n, *how) for n, how in enumerate(pieces)]
            entries.append(fetch.PARTITION_RESPONSE(partition_index=number, records=records))
        return fetch.RESPONSE(responses=[fetch.TOPIC_RESPONSE(topic="letters", partitions=entries)])

    async def _piece(self, number: int, offset: int, size: int, in_object: bool) -> Any:
        data = bytearray(build([Record(0, 0, None, os.urandom(size))]))
        assign(memoryview(data), 0, offset - SHIFT if in_object and offset >= SHIFT else offset)
        if not in_object:
            return bytes(data)
        key = f"log/{number}/{offset}"
        await self.objects.put_if_absent(key, [b"before", data, b"after"])
        promise = ObjectRange(key, len(b"before"), len(data))
        return promise.shifted(SHIFT) if offset >= SHIFT else promise

    async def answer(self, row: Any) -> Message:
        text = await self.replies.text(1, SPILL, request(), row)
        assert fits(text)
        return decode(text)

    async def offsets(self, answer: Message) -> list[list[int]]:
        """Of each partition, as a client gets them."""
        frame = await self._gathered(answer) if isinstance(answer, Gather) else answer.frame  # type: ignore[union-attr]
        _, row = read_response(APIS[ApiKey.FETCH], VERSION, memoryview(frame))
        (topic,) = row.responses
        return [[h.base_offset for _, h in headers(p.records)] for p in topic.partitions]

    async def _gathered(self, answer: Gather) -> Frame:
        parts = plan(answer).pieces
        return b"".join([bytes(shifted(await self._bytes(p.source), p.shift)) for p in parts])

    async def _bytes(self, piece: bytes | UrlRange) -> bytes:
        if not isinstance(piece, UrlRange):
            return piece
        key, _, signed = piece.url.partition("?")
        assert signed.rstrip("s") == f"{piece.start}+{piece.length}", "a URL is for its range"
        return bytes(await self.objects.get(key, piece.start, piece.length))


SMALL, LARGE = (3 * KILOBYTE, False), (300 * KILOBYTE, True)
PIECES = st.lists(
    st.tuples(st.sampled_from([40, 3_000, 20_000, 80_000]), st.booleans()), max_size=40
)


@examples(60)
@given(st.lists(PIECES, min_size=1, max_size=3))
async def test_whatever_is_mixed_whole_pieces_arrive_in_order_from_the_first_on(partitions):
    given = Given()
    row = await given.row(partitions)
    found = await given.offsets(await given.answer(row))
    total = [offset for pieces in found for offset in pieces]
    for offsets, pieces in zip(found, partitions, strict=True):
        assert offsets == list(range(len(offsets)))
        assert len(offsets) <= len(pieces)
    cut = [n for n, pieces in enumerate(partitions) if len(found[n]) < len(pieces)]
    assert all(not found[n] for n in range(len(partitions)) if cut and n > cut[0])
    assert total or not any(partitions)


async def test_what_lies_in_the_ledger_goes_inline_between_the_ranges_of_objects():
    given = Given()
    pieces = [SMALL, LARGE, SMALL, SMALL, LARGE, SMALL]
    answer = await given.answer(await given.row([pieces]))
    assert isinstance(answer, Gather)
    kinds = [isinstance(piece, UrlRange) for piece in answer.pieces]
    assert kinds == [False, False, True, False, False, True, False, False]
    assert await given.offsets(answer) == [[0, 1, 2, 3, 4, 5]]


async def test_what_lies_in_the_ledger_does_not_make_a_gather_list_too_long():
    given = Given()
    answer = await given.answer(await given.row([[LARGE] + [SMALL] * 100]))
    assert isinstance(answer, Gather)
    (found,) = await given.offsets(answer)
    assert 10 < len(found) < 40


async def test_small_pieces_before_a_large_one_are_cut_and_not_stored_again_if_they_fit():
    given = Given()
    small = [(3 * KILOBYTE, True)] * 20 + [SMALL] * 20
    answer = await given.answer(await given.row([small]))
    assert isinstance(answer, Reply)
    assert given.objects.calls["put"] == 20
    (found,) = await given.offsets(answer)
    assert 20 < len(found) < 40


async def test_more_than_a_message_of_what_lies_in_the_ledger_is_stored_once_and_named():
    given = Given()
    answer = await given.answer(await given.row([[SMALL] * 60]))
    assert isinstance(answer, Gather)
    (piece,) = answer.pieces
    assert isinstance(piece, UrlRange)
    assert piece.url.startswith(SPILL)
    assert await given.offsets(answer) == [list(range(60))]


@pytest.mark.parametrize("size", [3 * KILOBYTE, 30 * KILOBYTE])
async def test_a_guess_that_was_wrong_is_put_right_inline_as_well_as_in_a_list(size: int):
    given = Given()
    pieces = [(40, False)] * SHIFT + [(size, True)] * 6
    answer = await given.answer(await given.row([pieces]))
    assert isinstance(answer, Reply if size < 10 * KILOBYTE else Gather)
    assert await given.offsets(answer) == [list(range(SHIFT + 6))]


async def test_a_long_range_is_several_urls_each_for_its_part_and_offsets_are_right():
    given = Given()
    size = 2 * PART + 12_345
    answer = await given.answer(await given.row([[(40, False)] * SHIFT + [(size, True)]]))
    assert isinstance(answer, Gather)
    ranges = [piece for piece in answer.pieces if isinstance(piece, UrlRange)]
    assert [piece.length for piece in ranges[:2]] == [PART, PART]
    assert len({piece.url for piece in ranges}) == 3
    assert {piece.shift for piece in ranges} == {SHIFT}
    assert await given.offsets(answer) == [list(range(SHIFT + 1))]


async def test_what_is_spilled_comes_by_urls_for_its_parts_too():
    given = Given()
    row = await given.row([[(PART // 20, False)] * 30])
    answer = await given.answer(row)
    assert isinstance(answer, Gather)
    assert [piece.url.startswith(SPILL) for piece in answer.pieces] == [True, True]  # type: ignore[union-attr]
    assert await given.offsets(answer) == [list(range(30))]
