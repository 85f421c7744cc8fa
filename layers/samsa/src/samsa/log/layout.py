"""The layout of one commit: its batches in order, each with the offset that is guessed for it."""

from collections.abc import Sequence
from typing import NamedTuple

from samsa.ports import Extent
from samsa.records.batch import BatchHeader, assign

from .extents import describe

CHOSEN_BY_THE_JOURNAL = ""


class Batch(NamedTuple):
    """What a producer sent for one partition: one v2 batch, in memory that may be patched."""

    header: BatchHeader
    data: memoryview
    serial: int = 0
    """Of the transaction that it belongs to; 0 if it is not transactional."""
    lingers: bool = False
    """Its answer may be a little late if that keeps the head small."""


class Layout(NamedTuple):
    parts: list[memoryview]
    extent: Extent
    deltas: dict[int, int]
    """By a batch's number: the distance of its offset from the commit's base."""


def lay_out(guess: int, batches: Sequence[Batch], admitted: Sequence[int], now_ms: int) -> Layout:
    """The admitted batches, from the offset `guess` on."""
    parts: list[memoryview] = []
    placed: list[tuple[int, BatchHeader]] = []
    deltas: dict[int, int] = {}
    position, offset = 0, guess
    for number in admitted:
        header, data, _, _ = batches[number]
        assign(data, 0, offset)
        deltas[number] = offset - guess
        header = header.at(offset)
        parts.append(data)
        placed.append((position, header))
        position += len(data)
        offset = header.next_offset
    return Layout(parts, describe(CHOSEN_BY_THE_JOURNAL, guess, placed, now_ms), deltas)


def move(layout: Layout, base: int) -> None:
    """Give the batches the offsets that the commit decided, if the guess was wrong."""
    if base != layout.extent.base:
        for part, delta in zip(layout.parts, layout.deltas.values(), strict=True):
            assign(part, 0, base + delta)
