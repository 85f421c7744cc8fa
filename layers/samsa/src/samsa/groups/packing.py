"""The bytes of a group: runs of fixed-size fields, each followed by its texts and blobs.

A group is read at every request, so that this is written for speed: the texts of one row are
decoded in one go and cut by their lengths.
"""

import struct
from itertools import accumulate, pairwise

_LENGTH = struct.Struct(">I")
NONE = 0xFFFF


class Corrupt(Exception):
    """These bytes are no group, or one of a later version."""


class Texts:
    """A fixed number of texts, any of which may be None."""

    def __init__(self, count: int) -> None:
        self._lengths = struct.Struct(f">I{count}H")

    def pack(self, *texts: str | None) -> bytes:
        joined = "".join([text for text in texts if text]).encode()
        lengths = [NONE if text is None else len(text) for text in texts]
        return self._lengths.pack(len(joined), *lengths) + joined

    def unpack(self, data: bytes, at: int) -> tuple[list[str | None], int]:
        size, *lengths = self._lengths.unpack_from(data, at)
        start = at + self._lengths.size
        joined = data[start : start + size].decode()
        ends = accumulate([0 if length == NONE else length for length in lengths], initial=0)
        texts = [joined[first:last] for first, last in pairwise(ends)]
        found = [t if n != NONE else None for t, n in zip(texts, lengths, strict=True)]
        return found, start + size


def blob(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


def read_blob(data: bytes, at: int) -> tuple[bytes, int]:
    (size,) = _LENGTH.unpack_from(data, at)
    start = at + _LENGTH.size
    return data[start : start + size], start + size
