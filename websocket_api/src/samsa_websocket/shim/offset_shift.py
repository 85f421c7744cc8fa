"""Adds a shift to the offsets of batches that come in pieces, because the guess was wrong. Pure.

A piece may end anywhere, also inside a batch's first bytes: these are kept until the rest of them
has come. All bytes come out in order, and their number does not change.
"""

import struct

from samsa.records import CorruptBatch
from samsa.records.header import HEADER_SIZE, LOG_OVERHEAD

_START = struct.Struct(">qi")
"""The start of a batch: its offset, and the length of what follows these two."""


class OffsetShift:
    def __init__(self, shift: int, length: int) -> None:
        """`length` bytes of whole batches will come."""
        self._shift = shift
        self._left = length
        self._kept = bytearray()
        """The first bytes of a batch, while they are too few."""
        self._to_come = 0
        """Bytes of the batch that was begun."""

    def feed(self, data: bytes) -> bytearray:
        """What can be passed on. Raises CorruptBatch."""
        moved = self._kept + data
        at = self._to_come
        while at + LOG_OVERHEAD <= len(moved):
            offset, length = _START.unpack_from(moved, at)
            if length < HEADER_SIZE - LOG_OVERHEAD:
                raise CorruptBatch(f"a batch cannot be {length} bytes long")
            _START.pack_into(moved, at, offset + self._shift, length)
            at += LOG_OVERHEAD + length
        self._kept = moved[at:]
        self._to_come = max(0, at - len(moved))
        self._left -= len(data)
        if not self._left and (self._kept or self._to_come):
            raise CorruptBatch("the last batch is cut")
        del moved[at:]
        return moved
