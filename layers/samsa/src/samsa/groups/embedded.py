"""The bytes that Kafka's consumers send in the classic protocol: subscriptions and assignments.

The coordinator usually passes these bytes on unread. It reads them when it must know what a group
is subscribed to (OffsetDelete), and when a group moves between the two protocols.
"""

import struct
from collections.abc import Iterable
from typing import NamedTuple

PROTOCOL_TYPE = "consumer"
LATEST = 3
_SHORT = struct.Struct(">h")
_INT = struct.Struct(">i")

NamedPartition = tuple[str, int]


class Malformed(Exception):
    """Bytes that no consumer would send."""


class EmbeddedSubscription(NamedTuple):
    version: int
    topics: tuple[str, ...]
    owned: tuple[NamedPartition, ...] = ()
    rack_id: str | None = None


class _BytesReader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def short(self) -> int:
        return self._number(_SHORT)

    def number(self) -> int:
        return self._number(_INT)

    def text(self) -> str:
        return self._take(self.short()).decode()

    def optional_text(self) -> str | None:
        size = self.short()
        return None if size < 0 else self._take(size).decode()

    def skip_bytes(self) -> None:
        size = self.number()
        if size > 0:
            self._take(size)

    def count(self) -> range:
        """An array's length, which cannot be more than the remaining bytes."""
        count = self.number()
        if not 0 <= count <= len(self._data) - self._at:
            raise Malformed(f"an array of {count}")
        return range(count)

    def partitions(self) -> tuple[NamedPartition, ...]:
        found: list[NamedPartition] = []
        for _ in self.count():
            topic = self.text()
            found.extend((topic, self.number()) for _ in self.count())
        return tuple(found)

    def _number(self, shape: struct.Struct) -> int:
        number: int = shape.unpack(self._take(shape.size))[0]
        return number

    def _take(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        if size < 0 or len(piece) < size:
            raise Malformed("it ends too early")
        self._at += size
        return piece


def read_subscription(data: bytes) -> EmbeddedSubscription:
    """Versions later than ours begin with the fields of ours."""
    reader = _BytesReader(data)
    try:
        version = reader.short()
        topics = tuple(reader.text() for _ in reader.count())
        reader.skip_bytes()
        owned = reader.partitions() if version >= 1 else ()
        if version >= 2:
            reader.number()
        rack_id = reader.optional_text() if version >= LATEST else None
    except UnicodeDecodeError as error:
        raise Malformed(str(error)) from error
    return EmbeddedSubscription(version, topics, owned, rack_id)


def read_version(data: bytes) -> int:
    """The version of a subscription that may be any bytes; 0 if it cannot be read."""
    try:
        return min(max(_BytesReader(data).short(), 0), LATEST)
    except Malformed:
        return 0


def read_topics(data: bytes) -> tuple[str, ...]:
    """Reads only the fields that every version has."""
    reader = _BytesReader(data)
    try:
        reader.short()
        return tuple(reader.text() for _ in reader.count())
    except UnicodeDecodeError as error:
        raise Malformed(str(error)) from error


def read_assignment(data: bytes) -> tuple[NamedPartition, ...]:
    """Empty bytes mean no partitions."""
    if not data:
        return ()
    reader = _BytesReader(data)
    try:
        reader.short()
        return reader.partitions()
    except UnicodeDecodeError as error:
        raise Malformed(str(error)) from error


def write_assignment(version: int, partitions: Iterable[NamedPartition]) -> bytes:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        by_topic.setdefault(topic, []).append(partition)
    parts = [_SHORT.pack(min(version, LATEST)), _INT.pack(len(by_topic))]
    for topic, numbers in by_topic.items():
        name = topic.encode()
        parts += (_SHORT.pack(len(name)), name, _INT.pack(len(numbers)))
        parts += map(_INT.pack, numbers)
    parts.append(_INT.pack(-1))
    return b"".join(parts)
