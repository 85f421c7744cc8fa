"""The bytes of a transaction: fixed fields, then the partitions by topic, then the groups.

Numbers of partitions are in order, each as its distance from the one before it, in as few bytes as
it needs: one, in most cases. The same transaction always has the same bytes.
"""

import struct
from collections.abc import Iterator
from uuid import UUID

from .state import Partitions, State, Transaction

_VERSION = 1
_FIXED = struct.Struct(">BBqhQiqqqhqII")
_STATES = tuple(State)
_ID_BYTES = 16
_MOST_UTF8 = 4
"""Bytes of a character."""
_MOST_DIGITS = 5
"""Bytes of a number: seven bits each."""


class Corrupt(Exception):
    """These bytes are not a transaction, or one of a later version."""


def pack(transaction: Transaction) -> bytes:
    numbers: dict[bytes, list[int]] = {}
    for topic_id, number in transaction.partitions:
        numbers.setdefault(topic_id.bytes, []).append(number)
    topics = [_topic(topic_id, sorted(numbers[topic_id])) for topic_id in sorted(numbers)]
    groups = [_text(group_id) for group_id in sorted(transaction.groups)]
    fixed = _FIXED.pack(
        _VERSION,
        _STATES.index(transaction.state),
        transaction.producer_id,
        transaction.epoch,
        transaction.serial,
        transaction.timeout_ms,
        transaction.started_at,
        transaction.changed_at,
        transaction.last_producer_id,
        transaction.last_epoch,
        transaction.next_producer_id,
        len(topics),
        len(groups),
    )
    return b"".join((fixed, *topics, *groups))


def fits(transaction: Transaction, most_bytes: int) -> bool:
    """Whether it is packed into so many bytes. Only a large one is packed to know that."""
    groups = sum(_MOST_UTF8 * len(group_id) + _MOST_DIGITS for group_id in transaction.groups)
    partitions = len(transaction.partitions) * (_ID_BYTES + 2 * _MOST_DIGITS)
    at_most = _FIXED.size + partitions + groups
    return at_most <= most_bytes or len(pack(transaction)) <= most_bytes


def _topic(topic_id: bytes, numbers: list[int]) -> bytes:
    before = [-1, *numbers]
    distances = [number - last - 1 for last, number in zip(before, numbers, strict=False)]
    return topic_id + b"".join(map(_number, [len(numbers), *distances]))


def _text(text: str) -> bytes:
    encoded = text.encode()
    return _number(len(encoded)) + encoded


def _number(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def unpack(data: bytes) -> Transaction:
    try:
        return _unpack(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise Corrupt(str(error)) from None


def _unpack(data: bytes) -> Transaction:
    version, state, *numbers, topics, groups = _FIXED.unpack_from(data)
    if version != _VERSION:
        raise Corrupt(f"version {version}")
    reader = _Reader(data, _FIXED.size)
    partitions: Partitions = frozenset(reader.partitions(topics))
    group_ids = frozenset(reader.texts(groups))
    if reader.at != len(data):
        raise Corrupt(f"{len(data)} bytes, of which {reader.at} are told of")
    producer_id, epoch, serial, timeout_ms, *rest = numbers
    return Transaction(
        producer_id, epoch, _STATES[state], serial, timeout_ms, partitions, group_ids, *rest
    )


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def partitions(self, topics: int) -> Iterator[tuple[UUID, int]]:
        for _ in range(topics):
            topic_id = UUID(bytes=self._take(_ID_BYTES))
            last = -1
            for _ in range(self._number()):
                last += self._number() + 1
                yield topic_id, last

    def texts(self, count: int) -> Iterator[str]:
        for _ in range(count):
            yield self._take(self._number()).decode()

    def _take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise Corrupt("it ends too early")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def _number(self) -> int:
        value = shift = 0
        while (byte := self.data[self.at]) > 0x7F:
            if shift == 7 * (_MOST_DIGITS - 1):
                raise Corrupt("a number is too long")
            value |= (byte & 0x7F) << shift
            shift += 7
            self.at += 1
        self.at += 1
        return value | byte << shift
