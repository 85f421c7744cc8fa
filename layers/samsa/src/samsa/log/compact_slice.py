"""Compaction of neighbouring extents: what stays of their batches, in order.

Neighbouring batches of which nothing stays become one empty batch (a filler). So every offset is in
some batch: a reader that asks for a removed offset always gets a batch that ends after it, wherever
its response is cut.
"""

from collections.abc import Iterable
from typing import NamedTuple

from samsa.ports import Buffer
from samsa.records.batch import (
    BatchHeader,
    compacted_filler,
    headers,
    is_filler,
    read_header,
)
from samsa.records.spans import Steps

from .compact_batch import BatchBytes, Sieve, clean

MOST_OFFSETS = 2**31 - 1
"""In one batch."""


class Cleaned(NamedTuple):
    parts: list[BatchBytes]
    placed: list[tuple[int, BatchHeader]]
    """Each with its position."""
    changed: bool


def clean_all(pieces: Iterable[Buffer], sieve: Sieve) -> Steps[Cleaned]:
    slice_ = _Slice()
    for piece in pieces:
        view = memoryview(piece)
        for position, header in headers(piece):
            part = view[position : position + header.size]
            kept = yield from clean(header, part, sieve)
            if kept is None:
                slice_.leave_out(header, part)
            else:
                slice_.add(header if kept is part else read_header(kept), kept)
                slice_.changed |= kept is not part
    slice_.close_gap()
    return Cleaned(slice_.parts, slice_.placed, slice_.changed)


class _Slice:
    def __init__(self) -> None:
        self.parts: list[BatchBytes] = []
        self.placed: list[tuple[int, BatchHeader]] = []
        self.changed = False
        self._size = 0
        self._gap: list[tuple[BatchHeader, BatchBytes]] = []

    def add(self, header: BatchHeader, part: BatchBytes) -> None:
        self.close_gap()
        self._put(header, part)

    def leave_out(self, header: BatchHeader, part: BatchBytes) -> None:
        self._gap.append((header, part))

    def close_gap(self) -> None:
        gap, self._gap = self._gap, []
        if not gap:
            return
        if len(gap) == 1 and is_filler(gap[0][0]):
            self._put(*gap[0])  # nothing to gain: the log stays as it is
            return
        self.changed = True
        start, end = gap[0][0].base_offset, gap[-1][0].next_offset
        for base in range(start, end, MOST_OFFSETS):
            empty = compacted_filler(base, min(MOST_OFFSETS, end - base))
            self._put(read_header(empty), empty)

    def _put(self, header: BatchHeader, part: BatchBytes) -> None:
        self.parts.append(part)
        self.placed.append((self._size, header))
        self._size += len(part)
