"""AppendJournal: a file beside the database with the notes of appends that are not in it yet.

A note is an extent, the producers' new states, and what the append did to transactions, after its
length and checksum. Writing one is a single pwrite, which costs a fraction of a transaction. After
a crash the notes are read again, up to the first incomplete one: that append was never
acknowledged.

Most appends have nothing to do with transactions. Their notes end after the states, as all notes
did in ledgers of format 1.
"""

import errno
import os
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from samsa.local.schema import pack_marks, unpack_marks
from samsa.ports import Aborted, Claim, Extent, Partition

_FRAME = struct.Struct(">II")
_EXTENT = struct.Struct(">16siqqqqqqqqHII")
_CLAIM = struct.Struct(">qqqI")
_OPENED = struct.Struct(">q")
_ABORTED = struct.Struct(">qqqq")
_NONE_OPEN = -1


class Note(NamedTuple):
    partition: Partition
    extent: Extent
    claims: tuple[Claim, ...]
    """Without `opens` and `ends`: the note has what they led to."""
    opened: tuple[int | None, ...] = ()
    """For each claim: the first offset of the transaction that its producer has open after the
    append. Empty: none has one."""
    aborted: Aborted | None = None
    """The transaction that the append aborted."""

    def opened_by(self, claim: Claim) -> int | None:
        return self.opened[self.claims.index(claim)] if self.opened else None

    def pack(self) -> bytes:
        (topic_id, number), extent, claims, opened, aborted = self
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
        if opened or aborted:
            firsts = opened or (None,) * len(claims)
            parts += (_OPENED.pack(_NONE_OPEN if one is None else one) for one in firsts)
        if aborted:
            parts.append(_ABORTED.pack(*aborted))
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
        partition = Partition(UUID(bytes=topic), number)
        return cls(partition, extent, tuple(claims), *_transactions(data[at:], count))


def _transactions(data: bytes, claims: int) -> tuple[tuple[int | None, ...], Aborted | None]:
    """What is behind the claims; nothing, if the append has nothing to do with transactions."""
    end = claims * _OPENED.size
    firsts = [first for (first,) in _OPENED.iter_unpack(data[:end])]
    is_any_open = any(first != _NONE_OPEN for first in firsts)
    opened = tuple(None if first == _NONE_OPEN else first for first in firsts)
    aborted = Aborted(*_ABORTED.unpack_from(data, end)) if len(data) > end else None
    return opened if is_any_open else (), aborted


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
