"""Encode numbers as varints, and an extent's sparse index as varints of differences.

Marks and times only grow, so the differences are small."""

from collections.abc import Iterator
from itertools import accumulate

BEFORE_ALL_TIME = -1
Marks = tuple[tuple[int, int], ...]


def pack_marks(marks: Marks) -> bytes:
    packed = bytearray()
    last = (0, 0)
    for mark in marks:
        for before, value in zip(last, mark, strict=True):
            put_varint(packed, value - before)
        last = mark
    return bytes(packed)


def unpack_marks(packed: bytes) -> Marks:
    steps = _varints(packed)
    marks: list[tuple[int, int]] = []
    offset = position = 0
    for step in steps:
        offset, position = offset + step, position + next(steps)
        marks.append((offset, position))
    return tuple(marks)


def pack_times(times: tuple[int, ...]) -> bytes:
    packed, last = bytearray(), BEFORE_ALL_TIME
    for time in times:
        put_varint(packed, time - last)
        last = time
    return bytes(packed)


def unpack_times(packed: bytes) -> tuple[int, ...]:
    return tuple(accumulate(_varints(packed), initial=BEFORE_ALL_TIME))[1:]


def put_varint(packed: bytearray, value: int) -> None:
    if value < 0:
        raise ValueError(f"{value} is negative")
    while value > 0x7F:
        packed.append(value & 0x7F | 0x80)
        value >>= 7
    packed.append(value)


def take_varint(packed: bytes, position: int) -> tuple[int, int]:
    """The number at `position`, and the position of the next one."""
    value = shift = 0
    while True:
        byte = packed[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position


def _varints(packed: bytes) -> Iterator[int]:
    position = 0
    while position < len(packed):
        value, position = take_varint(packed, position)
        yield value
