"""Positions and keys of the records of a batch: as little parsing as compaction needs.

The loops are inlined, with the usual integers of one or two bytes: a call or a tuple for each
record would cost more than all the rest. They yield every few hundred records, so that other work
can run in between.

A record without a value is a tombstone. Everything is checked: a batch with inconsistent records
raises `CorruptBatch`, and nothing that was read of it counts.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple, TypeAlias, TypeVar

from samsa.records.errors import CorruptBatch
from samsa.records.header import BatchHeader
from samsa.records.parse import LARGEST_LONG, SMALLEST_LONG
from samsa.records.varint import read_varint, varint

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]
"""Work in small slices: it yields between two of them, and returns what it found."""

SLICE = 512
"""Records: about half a millisecond of work."""
LONGEST_KEY = 40
"""A longer key is replaced by a digest. A digest is longer than this, so it equals no short key."""
NULL = 1
"""The varint of −1."""


class Sifted(NamedTuple):
    runs: list[bytes]
    """The records that stay; neighbours are joined in one piece."""
    count: int  # type: ignore[assignment]  # Kafka's name, and a tuple's method's
    tombstones: int
    """How many of them have no value."""


def at_once(steps: Generator[object, None, T]) -> T:
    """Do all steps without a pause."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: T = done.value
            return found


def digest(key: bytes) -> bytes:
    return blake2b(key, digest_size=LONGEST_KEY + 1).digest()


def newest_by_key(  # noqa: C901, PLR0912
    header: BatchHeader, data: bytes
) -> Steps[dict[bytes, int]]:
    """The last offset of every key in the plain records of a batch."""
    found: dict[bytes, int] = {}
    base, position, last = header.base_offset, 0, -1
    try:
        for first in range(0, header.count, SLICE):
            for _ in range(min(SLICE, header.count - first)):
                if (length := data[position]) < 0x80:
                    position += 1
                elif (second := data[position + 1]) < 0x80:
                    length += (second << 7) - 0x80
                    position += 2
                else:
                    length, position = _long(data, position)
                end = position + (length >> 1)
                position += 2  # unused attributes, and the time
                while data[position - 1] >= 0x80:
                    position += 1
                if (delta := data[position]) < 0x80:
                    position += 1
                elif (second := data[position + 1]) < 0x80:
                    delta += (second << 7) - 0x80
                    position += 2
                else:
                    delta, position = _long(data, position)
                delta >>= 1
                if (size := data[position]) < 0x80:
                    position += 1
                else:
                    size, position = _long(data, position)
                key_end = position + (size >> 1)
                if delta <= last or key_end >= end:
                    raise CorruptBatch("a record is not in its place")
                if not size & 1:
                    key = data[position:key_end]
                    found[key if size <= 2 * LONGEST_KEY else digest(key)] = base + delta
                elif size != NULL:
                    raise CorruptBatch("a key has a negative length")
                last = delta
                position = end
            yield
    except IndexError:
        raise CorruptBatch("a record is cut") from None
    if position != len(data) or last > header.last_offset_delta:
        raise CorruptBatch("the records do not fill their batch")
    return found


def sift(  # noqa: C901, PLR0912
    header: BatchHeader, data: bytes, newest: Mapping[bytes, int], tombstones_too: bool
) -> Steps[Sifted]:
    """The records that have a key and that no newer record of the same key replaces.

    `tombstones_too`: records without a value are removed as well.
    """
    runs: list[bytes] = []
    base, position, start, dropped, tombstones = header.base_offset, 0, 0, 0, 0
    at_or_above = newest.get
    try:
        for first in range(0, header.count, SLICE):
            for _ in range(min(SLICE, header.count - first)):
                here = position
                if (length := data[position]) < 0x80:
                    position += 1
                elif (second := data[position + 1]) < 0x80:
                    length += (second << 7) - 0x80
                    position += 2
                else:
                    length, position = _long(data, position)
                end = position + (length >> 1)
                position += 2
                while data[position - 1] >= 0x80:
                    position += 1
                if (delta := data[position]) < 0x80:
                    position += 1
                elif (second := data[position + 1]) < 0x80:
                    delta += (second << 7) - 0x80
                    position += 2
                else:
                    delta, position = _long(data, position)
                if (size := data[position]) < 0x80:
                    position += 1
                else:
                    size, position = _long(data, position)
                key_end = position + (size >> 1)
                key = data[position:key_end]
                if size > 2 * LONGEST_KEY:
                    key = digest(key)
                stays = not size & 1 and at_or_above(key, -1) <= base + (delta >> 1)
                if stays and data[key_end] == NULL:
                    stays = not tombstones_too
                    tombstones += stays
                if not stays:
                    dropped += 1
                    if start < here:
                        runs.append(data[start:here])
                    start = end
                position = end
            yield
    except IndexError:
        raise CorruptBatch("a record is cut") from None
    if position != len(data):
        raise CorruptBatch("the records do not fill their batch")
    if start < position:
        runs.append(data[start:])
    return Sifted(runs, header.count - dropped, tombstones)


def pick(header: BatchHeader, data: bytes, offsets: Sequence[int]) -> Steps[Sifted]:
    """The records at the given offsets, in order. The batch must have a record at each of its
    offsets: then only lengths are read, up to the last wanted record."""
    runs: list[bytes] = []
    position, start, tombstones, follows = 0, 0, 0, header.base_offset
    pause = follows + SLICE
    for offset in offsets:
        if offset > follows:
            if start < position:
                runs.append(data[start:position])
            start = position = yield from skip(data, position, offset - follows)
        tombstones += _is_tombstone(data, position)
        length, position = read_varint(data, position)
        position += length
        follows = offset + 1
        if follows >= pause:
            pause = follows + SLICE
            yield
    if start < position:
        runs.append(data[start:position])
    return Sifted(runs, len(offsets), tombstones)


def skip(data: bytes, position: int, count: int) -> Steps[int]:
    """The position after `count` records."""
    for first in range(0, count, SLICE):
        for _ in range(min(SLICE, count - first)):
            length = data[position]
            if length < 0x80:
                position += 1 + (length >> 1)
            elif (second := data[position + 1]) < 0x80:
                position += 2 + (length >> 1 & 0x3F | second << 6)
            else:
                length, position = _long(data, position)
                position += length >> 1
        if first + SLICE < count:
            yield
    return position


def _is_tombstone(data: bytes, position: int) -> bool:
    _, position = read_varint(data, position)
    _, position = read_varint(data, position + 1)
    _, position = read_varint(data, position)
    size, position = read_varint(data, position)
    return data[position + size] == NULL


def _long(data: bytes, position: int) -> tuple[int, int]:
    """A varint with its sign still in the lowest bit."""
    byte, second = data[position], data[position + 1]
    if second < 0x80:
        return byte & 0x7F | second << 7, position + 2
    value, position = read_varint(data, position)
    return (value << 1) ^ (value >> 63), position


def newest_time(header: BatchHeader, data: bytes, count: int) -> int:
    """The greatest timestamp of `count` records."""
    newest = -1
    for _, delta, _, _ in _times(data, count):
        newest = max(newest, header.base_timestamp + delta)
    return _fitting(newest)


def with_times_from(base_timestamp: int, header: BatchHeader, data: bytes, count: int) -> bytes:
    """The same records for a batch with another base timestamp."""
    shift = header.base_timestamp - base_timestamp
    pieces: list[bytes] = []
    for start, delta, rest, end in _times(data, count):
        time = varint(_fitting(delta + shift))
        body = b"".join((data[start : start + 1], time, data[rest:end]))
        pieces += (varint(len(body)), body)
    return b"".join(pieces)


def _times(data: bytes, count: int) -> Iterator[tuple[int, int, int, int]]:
    """For each record: where it starts, its time's delta, where that ends, where the record
    ends."""
    position = 0
    try:
        for _ in range(count):
            length, start = read_varint(data, position)
            delta, rest = read_varint(data, start + 1)
            position = start + length
            if rest > position:
                raise CorruptBatch("a record is shorter than its time")
            yield start, delta, rest, position
    except IndexError:
        raise CorruptBatch("a record is cut") from None


def _fitting(time: int) -> int:
    """Check a time: a producer chooses base and delta, and their sum may exceed 64 bits."""
    if not SMALLEST_LONG <= time <= LARGEST_LONG:
        raise CorruptBatch("a timestamp does not fit into 64 bits")
    return time
