"""A slot as it will be stored: its batches in order, each at its offset, and its index entry."""

from collections.abc import Sequence
from typing import NamedTuple

from samsa.ports import Extent
from samsa.records.batch import BatchHeader, assign, empty_like, read_header

from .extents import describe


class Batch(NamedTuple):
    """What a producer sent for one partition: one v2 batch, in memory that may be patched."""

    header: BatchHeader
    data: memoryview


class Layout(NamedTuple):
    parts: list[bytes | memoryview]
    extent: Extent
    first_own: BatchHeader | None
    """The first batch in it that is not blank, as it will stand in the log."""


def places(base: int, batches: Sequence[Batch], admitted: list[int]) -> dict[int, int]:
    """The offset of each admitted batch in a slot, in order."""
    found: dict[int, int] = {}
    for number in admitted:
        found[number] = base
        base += batches[number].header.offsets
    return found


def lay_out(
    key: str,
    base: int,
    batches: Sequence[Batch],
    bases: dict[int, int],
    lost: set[int],
    now_ms: int,
) -> Layout:
    """The batches at their offsets; those that were lost are blank."""
    parts: list[bytes | memoryview] = []
    placed: list[tuple[int, BatchHeader]] = []
    position, first_own = 0, None
    for number, offset in bases.items():
        header, data = batches[number]
        part: bytes | memoryview = data
        if number in lost:
            part = empty_like(header, offset)
            header = read_header(part)
        else:
            assign(data, 0, offset)
            header = header.at(offset)
            first_own = first_own or header
        parts.append(part)
        placed.append((position, header))
        position += len(part)
    return Layout(parts, describe(key, base, placed, now_ms), first_own)
