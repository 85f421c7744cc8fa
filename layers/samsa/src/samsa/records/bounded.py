"""Decompression into memory of a fixed size, so that a small input cannot take gigabytes."""

import mmap
from collections.abc import Callable
from typing import TypeAlias

from samsa.records.errors import CorruptBatch, TooLarge

Buffer: TypeAlias = bytes | bytearray | memoryview
Unpack: TypeAlias = Callable[[Buffer, bytearray | mmap.mmap], int]

USUAL_RATIO = 4
USUAL_ROOM = 16 * 1024


def too_large(limit: int) -> TooLarge:
    return TooLarge(f"the records unpack to more than {limit} bytes")


def decompress_into(unpack: Unpack, data: Buffer, limit: int) -> bytes:
    """Unpack a stream whose plain size is unknown, or only claimed by the stream itself."""
    plain = _usual(unpack, data, limit)
    return _up_to_limit(unpack, data, limit) if plain is None else plain


def _usual(unpack: Unpack, data: Buffer, limit: int) -> bytes | None:
    room = bytearray(min(limit, USUAL_RATIO * len(data) + USUAL_ROOM))
    size = attempt(unpack, data, room)
    return None if size is None else bytes(memoryview(room)[:size])


def _up_to_limit(unpack: Unpack, data: Buffer, limit: int) -> bytes:
    # Fresh anonymous memory: only pages that are written to take memory.
    with mmap.mmap(-1, max(limit, 1)) as room:
        size = attempt(unpack, data, room)
        if size is None or size > limit:
            raise CorruptBatch(f"the records do not unpack into {limit} bytes")
        return room[:size]


def attempt(unpack: Unpack, data: Buffer, room: bytearray | mmap.mmap) -> int | None:
    import cramjam

    try:
        return unpack(data, room)
    except cramjam.DecompressionError:
        return None
