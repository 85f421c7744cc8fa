"""Turns a response into one message of API Gateway, which holds at most 128 KB.

A small response is sent inline, with its records. For a larger fetch the shim gets the records
itself: a gather list names ranges of log objects, whose bytes are not read here, and holds what the
ledger keeps itself. Each URL is signed for its range. If the ranges are so small that their URLs
would be longer than they are, the fetch is answered inline with fewer records. If the list is too
long, it is cut. Any other response that is too large is put under spill/, and the message names
that object.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from samsa import dispatch
from samsa.aws.presign import Presigner
from samsa.ports import Missing, Objects, Unavailable
from samsa.records.batch import shift_offsets
from samsa.wire.apis import ApiKey
from samsa.wire.frame import KafkaRequest
from samsa.wire.schema import Segment
from samsa_websocket.envelope import LARGEST_INLINE, Gather, Reply, UrlRange, encode, fits

from .object_ranges import ObjectRange

SIZE = 4
"""Bytes of a response's own length, which the envelope leaves out."""
WORTH_A_URL = 16 * 1024
"""Bytes that the ranges of a gather list have at least, on average."""
PART = 2 * 1024 * 1024
"""Longer ranges are several URLs, so that the shim fetches them in parallel and in small parts."""
HEADERS = 8 * 1024
"""Bytes that are kept free of records in an answer that is cut to go inline."""


class Unread(Exception):
    """A range that the response names could not be read. Nothing was done: if the shim asks again,
    the fetch is planned again."""


class ReplyTexts:
    def __init__(self, objects: Objects, presigner: Presigner) -> None:
        self._objects = objects
        self._presigner = presigner

    async def text(
        self, seq: int, spill_key: str, request: KafkaRequest, row: Any, mute_ms: int = 0
    ) -> str:
        """The message that answers the request. `mute_ms`: for how long the shim reads nothing more
        from the client."""
        if row is None:
            return encode(Reply(seq, mute_ms=mute_ms))
        segments = frame_of(request, row)
        if size_of(segments) <= LARGEST_INLINE:
            return encode(Reply(seq, await self._load(segments), mute_ms=mute_ms))
        if request.api_key == ApiKey.FETCH:  # with records, so its client is not over a quota
            return await self._fetched(seq, spill_key, request, row)
        return await self._spilled(seq, spill_key, segments, mute_ms=mute_ms)

    async def several(
        self,
        seq: int,
        spill_key: str,
        answers: Iterable[tuple[KafkaRequest, Any]],
        mute_ms: int = 0,
    ) -> str:
        """The same for requests that came together: each response is behind its size."""
        segments: list[Segment] = []
        for request, row in answers:
            segments += [] if row is None else dispatch.encode(request, row)
        if size_of(segments) <= LARGEST_INLINE:
            return encode(Reply(seq, b"".join(segments), several=True, mute_ms=mute_ms))
        return await self._spilled(seq, spill_key, segments, several=True, mute_ms=mute_ms)

    async def _fetched(self, seq: int, spill_key: str, request: KafkaRequest, row: Any) -> str:
        while True:
            segments = frame_of(request, row)
            size = size_of(segments)
            if size <= LARGEST_INLINE:
                return encode(Reply(seq, await self._load(segments)))
            pieces = pieces_of(row)
            promised = [piece for piece in pieces if isinstance(piece, ObjectRange)]
            if not promised:
                break
            if len(pieces) > 1 and size_of(promised) < len(promised) * WORTH_A_URL:
                keep_bytes(row, LARGEST_INLINE - HEADERS - (size - size_of(pieces)))
                continue
            text = await self._gathered(seq, segments)
            if fits(text):
                return text
            if len(pieces) == 1:
                break
            keep_first(row, len(pieces) * 2 // 3)
        return await self._spilled(seq, spill_key, segments)

    async def _gathered(self, seq: int, segments: Sequence[Segment]) -> str:
        pieces: list[bytes | UrlRange] = []
        for segment in segments:
            if isinstance(segment, ObjectRange):
                pieces += [await self._presigned(part) for part in segment.parts(PART)]
            else:
                pieces.append(segment)
        return encode(Gather(seq, tuple(pieces)))

    async def _presigned(self, piece: ObjectRange) -> UrlRange:
        key, start, length, shift = piece.key, piece.start, piece.length, piece.shift
        return UrlRange(await self._presigner.get(key, start, length), start, length, shift)

    async def _spilled(
        self,
        seq: int,
        spill_key: str,
        segments: Sequence[Segment],
        several: bool = False,
        mute_ms: int = 0,
    ) -> str:
        frame = await self._load(segments)
        await self._objects.put_if_absent(spill_key, [frame])
        whole = ObjectRange(spill_key, 0, len(frame))
        parts = [await self._presigned(part) for part in whole.parts(PART)]
        return encode(Gather(seq, tuple(parts), several, mute_ms))

    async def _load(self, segments: Sequence[Segment]) -> bytes:
        loaded = await asyncio.gather(*(self._bytes(segment) for segment in segments))
        return b"".join(loaded)

    async def _bytes(self, segment: Segment) -> Any:
        if not isinstance(segment, ObjectRange):
            return segment
        try:
            data = await self._objects.get(segment.key, segment.start, segment.length)
        except (Missing, Unavailable) as error:
            raise Unread(str(error)) from error
        return shift_offsets(data, segment.shift) if segment.shift else data


def frame_of(request: KafkaRequest, row: Any) -> list[Segment]:
    first, *rest = dispatch.encode(request, row)
    return [first[SIZE:], *rest]


def size_of(segments: Sequence[Segment]) -> int:
    return sum(map(len, segments))


def _partitions(row: Any) -> Iterator[Any]:
    for topic in row.responses:
        yield from topic.partitions


def pieces_of(row: Any) -> list[Segment]:
    """Each holds whole batches: their bytes, or the range of an object."""
    return [piece for partition in _partitions(row) for piece in partition.records]


def keep_first(row: Any, most: int) -> None:
    """Keep only the first pieces: each partition is cut at its end, as with max_bytes."""
    for partition in _partitions(row):
        partition.records = partition.records[:most]
        most -= len(partition.records)


def keep_bytes(row: Any, most: int) -> None:
    """Keep only the first pieces, up to so many bytes; at least one."""
    kept = taken = 0
    for partition in _partitions(row):
        for piece in partition.records:
            taken += len(piece)
            if kept and taken > most:
                keep_first(row, kept)
                return
            kept += 1
