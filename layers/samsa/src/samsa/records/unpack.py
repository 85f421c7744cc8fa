"""Decompression in steps, so that it does not block others. Each step says first how much memory it
may take."""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

from samsa.records.bounded import USUAL_RATIO, USUAL_ROOM, Buffer
from samsa.records.compression import Codec, decompress
from samsa.records.errors import CorruptBatch

T = TypeVar("T")
Making: TypeAlias = Generator[int | None, None, T]
"""Work in small slices. It yields None between two slices. Before a slice that unpacks, it yields
the bytes of memory that this may take."""

SMALL, SMALL_PLAIN = 16 * 1024, 64 * 1024
"""Up to these sizes, packed and plain, data is unpacked immediately: that takes less time than
starting a thread."""
KEPT = 2
"""Free rooms that are kept for reuse."""
COPIES = 2
"""A decompressor writes to one piece of memory, and the result is another."""


ROOM = 4 * 1024 * 1024


class Rooms:
    """A pool of buffers to unpack to: a fresh page costs more than writing to it. A room that was
    taken must be given back."""

    def __init__(self) -> None:
        self._free: list[bytearray] = []

    def take(self) -> bytearray:
        return self._free.pop() if self._free else bytearray(ROOM)

    def give(self, room: bytearray) -> None:
        if len(self._free) < KEPT:
            self._free.append(room)


def unpacked(codec: Codec, packed: Buffer, limit: int) -> Making[bytes]:
    """The plain bytes, at most `limit` of them. Raises CorruptBatch."""
    if codec is Codec.NONE:
        return bytes(packed)
    if len(packed) <= SMALL:
        try:
            return decompress(codec, packed, min(limit, SMALL_PLAIN))
        except CorruptBatch:
            pass  # corrupt, or only larger than SMALL_PLAIN
    packed = kept(packed)
    usual = min(limit, USUAL_RATIO * len(packed) + USUAL_ROOM)
    yield COPIES * usual
    try:
        return decompress(codec, packed, usual)
    except CorruptBatch:
        if usual == limit:
            raise
    yield COPIES * limit
    return decompress(codec, packed, limit)


def kept(packed: Buffer) -> bytes:
    """A copy: another request may reuse the memory before a thread is done with it."""
    return packed if isinstance(packed, bytes) else bytes(packed)
