"""The bytes of a group: runs of fixed-size fields, each followed by its texts and blobs.

A group may be read at every request, so this is written for speed: the texts of one row are decoded
together and then cut by their lengths.
"""

import struct
from collections.abc import Sequence
from functools import lru_cache

_LENGTH = struct.Struct(">I")
_NONE = 0xFFFFFFFF


class CorruptGroup(Exception):
    """These bytes are not a group, or a group of a later version."""


class Texts:
    """A fixed number of texts, any of which may be None."""

    def __init__(self, count: int) -> None:
        self._lengths = struct.Struct(f">{count + 1}I")

    def pack(self, *texts: str | None) -> bytes:
        joined = "".join([text for text in texts if text]).encode()
        lengths = [_NONE if text is None else len(text) for text in texts]
        return self._lengths.pack(len(joined), *lengths) + joined

    def unpack(self, data: bytes, at: int) -> tuple[list[str | None], int]:
        size, *lengths = self._lengths.unpack_from(data, at)
        start = at + self._lengths.size
        joined = data[start : start + size].decode()
        found: list[str | None] = []
        first = 0
        for length in lengths:
            if length == _NONE:
                found.append(None)
            else:
                found.append(joined[first : first + length])
                first += length
        return found, start + size


_of = lru_cache(64)(Texts)


def texts(found: Sequence[str]) -> bytes:
    """Any number of texts."""
    return _LENGTH.pack(len(found)) + _of(len(found)).pack(*found)


def read_texts(data: bytes, at: int) -> tuple[list[str], int]:
    (count,) = _LENGTH.unpack_from(data, at)
    if count > len(data):
        raise CorruptGroup(f"{count} texts")
    found, end = _of(count).unpack(data, at + _LENGTH.size)
    return [text or "" for text in found], end


def blob(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


def read_blob(data: bytes, at: int) -> tuple[bytes, int]:
    (size,) = _LENGTH.unpack_from(data, at)
    start = at + _LENGTH.size
    if start + size > len(data):
        raise CorruptGroup("it ends too early")
    return data[start : start + size], start + size
