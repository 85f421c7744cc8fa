"""AppendJournal: a file beside the database with the notes of appends that are not in it yet.

A note is an extent and the producers' new states, after its length and checksum. Writing one is a
single pwrite, which costs a fraction of a transaction. After a crash the notes are read again, up
to the first incomplete one: that append was never acknowledged.
"""

import errno
import os
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from samsa.local.schema import pack_marks, unpack_marks
from samsa.ports import Claim, Extent, Partition

_FRAME = struct.Struct(">II")
_EXTENT = struct.Struct(">16siqqqqqqqqHII")
_CLAIM = struct.Struct(">qqqI")


class Note(NamedTuple):
    partition: Partition
    extent: Extent
    claims: tuple[Claim, ...]

    def pack(self) -> bytes:
        (topic_id, number), extent, claims = self
        key, marks = extent.key.encode(), pack_marks(extent.marks) if extent.marks else b""
        head = _EXTENT.pack(
            topic_id.bytes,
            number,
            extent.base,
            extent.offsets,
            extent.size,
            extent.max_timestamp,
            extent.stored_at,
            extent.records,
            extent.start,
            extent.shift,
            len(key),
            len(marks),
            len(claims),
        )
        parts = [head, key, marks]
        for claim in claims:
            parts += (
                _CLAIM.pack(claim.producer_id, claim.after, claim.expires_at, len(claim.state)),
                claim.state,
            )
        return b"".join(parts)

    @classmethod
    def unpack(cls, data: bytes) -> "Note":
        topic, number, base, offsets, size, newest, stored_at, records, start, shift, *lengths = (
            _EXTENT.unpack_from(data)
        )
        at, (key_length, marks_length, count) = _EXTENT.size, lengths
        key = data[at : at + key_length].decode()
        at += key_length
        marks = unpack_marks(data[at : at + marks_length])
        at += marks_length
        claims = []
        for _ in range(count):
            producer_id, after, expires_at, length = _CLAIM.unpack_from(data, at)
            at += _CLAIM.size
            claims.append(Claim(producer_id, data[at : at + length], after, expires_at))
            at += length
        extent = Extent(
            base, offsets, size, newest, stored_at, key, marks, records, start, shift=shift
        )
        return cls(Partition(UUID(bytes=topic), number), extent, tuple(claims))


class AppendJournal:
    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._end = os.fstat(self._fd).st_size

    def add(self, note: Note) -> None:
        data = note.pack()
        framed = _FRAME.pack(len(data), zlib.crc32(data)) + data
        if os.pwrite(self._fd, framed, self._end) != len(framed):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._end += len(framed)

    def read(self) -> Iterator[Note]:
        data, at = os.pread(self._fd, os.fstat(self._fd).st_size, 0), 0
        while at + _FRAME.size <= len(data):
            length, checksum = _FRAME.unpack_from(data, at)
            at += _FRAME.size
            note = data[at : at + length]
            if not length or len(note) < length or zlib.crc32(note) != checksum:
                return
            yield Note.unpack(note)
            at += length

    def look_again(self) -> None:
        """Find the end of the file again: another process may have added notes or cleared them."""
        self._end = os.fstat(self._fd).st_size

    def clear(self) -> None:
        os.ftruncate(self._fd, 0)
        self._end = 0

    @property
    def empty(self) -> bool:
        return self._end == 0

    def close(self) -> None:
        os.close(self._fd)
