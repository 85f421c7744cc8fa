"""Functions that compiled codecs call: long varints, tagged fields, UUIDs, records.

The compiled code reads the first byte of every varint itself. It calls this module only if more
bytes follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from samsa.wire.errors import DecodeError, TooManyElements

MAX_VARINT_BYTES = 5
LONGEST_STRING = 32_767
"""Bytes of UTF-8. A classic length has 16 bits, and Kafka refuses longer ones in compact form too.
Bytes and records have no such limit."""


def long_varint(data: memoryview, position: int, first: int) -> tuple[int, int]:
    """Read the rest of a varint after its first byte: its value, and the position after it."""
    value, shift = first & 0x7F, 7
    while shift < 7 * MAX_VARINT_BYTES:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return _checked(value), position
        shift += 7
    raise DecodeError("varint longer than five bytes")


def long_string_varint(data: memoryview, position: int, first: int) -> tuple[int, int]:
    """The same for the length of a compact string, which is sent as one more."""
    value, position = long_varint(data, position, first)
    if value > LONGEST_STRING + 1:
        raise DecodeError(f"a string of {value - 1} bytes")
    return value, position


def _checked(value: int) -> int:
    if value > 0xFFFFFFFF:
        raise DecodeError("varint wider than 32 bits")
    return value


def varint(data: memoryview, position: int) -> tuple[int, int]:
    first = data[position]
    return (first, position + 1) if first < 0x80 else long_varint(data, position + 1, first)


def varint_bytes(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag_header(data: memoryview, position: int) -> tuple[int, int, int]:
    """A tagged field's tag, the position of its value and the position after it."""
    tag, position = varint(data, position)
    size, position = varint(data, position)
    end = position + size
    if end > len(data):
        raise DecodeError(f"tagged field {tag} runs past the end")
    return tag, position, end


def skip_tags(data: memoryview, position: int, count: int, most: int) -> tuple[int, int]:
    """Skip a section of tagged fields, of which the first byte was read.

    Returns the position after it, and what is left of `most`: each field counts as an element.
    """
    if count > 0x7F:
        count, position = long_varint(data, position, count)
    if count > most:
        raise TooManyElements(f"{count} tagged fields")
    for _ in range(count):
        _, _, position = tag_header(data, position)
    return position, most - count


def tag_section(tags: list[tuple[int, bytearray]]) -> bytes:
    out = bytearray(varint_bytes(len(tags)))
    for tag, value in tags:
        out += varint_bytes(tag) + varint_bytes(len(value)) + value
    return bytes(out)


@lru_cache(maxsize=1024)
def to_uuid(raw: bytes) -> UUID:
    """Cached: the same topic ids come again and again, and creating a UUID costs more than a
    row."""
    return UUID(bytes=raw)


def records_pieces(value: Any) -> tuple[int, Sequence[Any]]:
    """The length of records (-1 for null) and their pieces, which stay as they are."""
    if value is None:
        return -1, ()
    pieces = value if isinstance(value, (list, tuple)) else (value,)
    length = sum(map(len, pieces))
    return length, pieces if length else ()
