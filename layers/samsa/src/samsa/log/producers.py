"""Idempotent producers: which batch may be appended.

Pure: a producer's state and its next batches in, a verdict for each out. The rules are Kafka's.

The state keeps the last five batches with their offsets, so that a retry of any request that a
client may have in flight is recognised. The state is stored in the same commit that decides the
offsets of the newest batches. So their offsets are stored as distances from the commit's base,
which the ledger keeps beside the state.

The coordinator counts the transactions of a producer: each has a serial. The state keeps the serial
of the last transaction that ended in this partition. A transactional batch has the serial of the
transaction in which the coordinator found its partition. If that one has ended, the batch is
refused: it came late, or its client has begun another transaction. So a batch never lands in a
transaction that it does not belong to, however old the coordinator's answer is.

A state has two formats. Fixed fields are fast to write, for local ledgers. Varints take a third of
the bytes, for DynamoDB, which bills every commit by the size of the head with all of its producers.
The first byte tells which format it is: an epoch is never negative.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from typing import NamedTuple

from samsa.ports import Bound
from samsa.records.batch import BatchHeader
from samsa.records.varint import read_varint, varint

KEPT = 5
SEQUENCES = 1 << 31
_STATE = struct.Struct(">hB")
_ENTRY = struct.Struct(">iiq")
_STATES = [struct.Struct(">hB" + count * "iiq") for count in range(KEPT + 1)]
"""By the number of entries."""
_SMALL = 0x80
_HAS_ENDED = 0x40
"""A serial follows: at the end of the fixed fields, or after the epoch of the varints."""
_SERIAL = struct.Struct(">q")
NOT_TRANSACTIONAL = 0
"""In place of a serial: these begin at 1."""


class Entry(NamedTuple):
    """One appended batch: its sequence numbers and its offset."""

    first: int
    last: int
    base: int


class ProducerState(NamedTuple):
    epoch: int
    entries: tuple[Entry, ...]
    fresh: int = 0
    """How many of the last entries have a distance from the commit's base instead of an offset."""
    ended: int = 0
    """The serial of its last transaction that ended here; 0: none did."""

    def pack(self) -> bytes:
        fields = _STATES[len(self.entries)]
        if not self.ended:
            return fields.pack(self.epoch, self.fresh, *chain.from_iterable(self.entries))
        fresh = self.fresh | _HAS_ENDED
        packed = fields.pack(self.epoch, fresh, *chain.from_iterable(self.entries))
        return packed + _SERIAL.pack(self.ended)

    def pack_small(self) -> bytes:
        """Delta-encoded: sequence numbers follow one another, and offsets mostly do."""
        packed = bytearray((_SMALL | self.fresh | (_HAS_ENDED if self.ended else 0),))
        packed += varint(self.epoch)
        if self.ended:
            packed += varint(self.ended)
        end, known = 0, len(self.entries) - self.fresh
        for n, (first, last, base) in enumerate(self.entries):
            if n == 0:
                packed += varint(first)
            if n == known:
                end = 0
            records = (last - first) % SEQUENCES + 1
            packed += varint(records) + varint(base - end)
            end = base + records
        return bytes(packed)

    @classmethod
    def _unpack_small(cls, packed: bytes) -> "ProducerState":
        numbers, position = [], 1
        while position < len(packed):
            number, position = read_varint(packed, position)
            numbers.append(number)
        fresh = packed[0] & ~_SMALL & ~_HAS_ENDED
        epoch, *rest = numbers
        ended = rest.pop(0) if packed[0] & _HAS_ENDED else 0
        first, end, entries = rest[0] if rest else 0, 0, []
        known = len(rest) // 2 - fresh
        for n, (records, step) in enumerate(zip(rest[1::2], rest[2::2], strict=True)):
            base = step if n == known else end + step
            entries.append(Entry(first, (first + records - 1) % SEQUENCES, base))
            first, end = (first + records) % SEQUENCES, base + records
        return cls(epoch, tuple(entries), fresh, ended)

    def at(self, base: int) -> "ProducerState":
        """The state with offsets, once the commit has its base."""
        if not self.fresh:
            return self
        known = len(self.entries) - self.fresh
        moved = [Entry(e.first, e.last, base + e.base) for e in self.entries[known:]]
        return ProducerState(self.epoch, (*self.entries[:known], *moved), 0, self.ended)

    def after_marker(self, epoch: int, serial: int) -> "ProducerState":
        """The state once a transaction's marker is stored. A newer epoch starts afresh."""
        entries = self.entries if epoch <= self.epoch else ()
        return ProducerState(max(epoch, self.epoch), entries, 0, max(serial, self.ended))

    @classmethod
    def of(cls, bound: Bound) -> "ProducerState":
        if bound.state[0] & _SMALL:
            return cls._unpack_small(bound.state).at(bound.base)
        (epoch, fresh), ended = _STATE.unpack_from(bound.state), 0
        packed = bound.state[_STATE.size :]
        if fresh & _HAS_ENDED:
            fresh &= ~_HAS_ENDED
            packed, (ended,) = packed[: -_SERIAL.size], _SERIAL.unpack(packed[-_SERIAL.size :])
        entries = tuple(map(Entry._make, _ENTRY.iter_unpack(packed)))
        return cls(epoch, entries, fresh, ended).at(bound.base)


class Verdict(Enum):
    NEXT = "next in order"
    DUPLICATE = "appended before"
    OUT_OF_ORDER = "not the next in order"
    STALE_EPOCH = "an older epoch of the producer"
    UNKNOWN = "nothing is known of the producer"
    LATER = "must wait for what it shares its commit with"
    ENDED = "its transaction has ended"


@dataclass(slots=True)
class ProducerDraft:
    """A producer's state as it will be once its batches of one commit are stored."""

    epoch: int
    kept: tuple[Entry, ...]
    new: list[BatchHeader] = field(default_factory=list)
    ended: int = 0

    @classmethod
    def of(cls, state: ProducerState | None) -> "ProducerDraft | None":
        return cls(state.epoch, state.entries, ended=state.ended) if state else None

    def next_sequence(self) -> int:
        if self.new:
            return (self.new[-1].last_sequence + 1) % SEQUENCES
        return (self.kept[-1].last + 1) % SEQUENCES if self.kept else 0

    def find(self, header: BatchHeader) -> Entry | None:
        wanted = (header.base_sequence, header.last_sequence)
        return next((e for e in self.kept if (e.first, e.last) == wanted), None)

    def state(self, deltas: Sequence[int]) -> ProducerState:
        """The state to store. `deltas`: distances of the new batches from the commit's base."""
        added = [
            Entry(header.base_sequence, header.last_sequence, delta)
            for header, delta in zip(self.new, deltas, strict=True)
        ]
        fresh = min(len(added), KEPT)
        return ProducerState(self.epoch, (*self.kept, *added)[-KEPT:], fresh, self.ended)


def judge(
    draft: ProducerDraft | None, header: BatchHeader, serial: int = NOT_TRANSACTIONAL
) -> Verdict:
    """`serial`: of the transaction that the batch belongs to."""
    if draft is None:
        if header.base_sequence == 0:
            return Verdict.NEXT
        # A transaction begins here, so what came before it is on its way.
        return Verdict.OUT_OF_ORDER if serial else Verdict.UNKNOWN
    if header.producer_epoch < draft.epoch:
        return Verdict.STALE_EPOCH
    if serial and serial <= draft.ended:
        return Verdict.DUPLICATE if draft.find(header) else Verdict.ENDED
    return _judge_sequence(draft, header)


def _judge_sequence(draft: ProducerDraft, header: BatchHeader) -> Verdict:
    newer = header.producer_epoch > draft.epoch
    if not newer and header.base_sequence == draft.next_sequence():
        return Verdict.NEXT
    if _must_wait(draft, header):
        return Verdict.LATER
    if newer:
        return Verdict.NEXT if header.base_sequence == 0 else Verdict.OUT_OF_ORDER
    return Verdict.DUPLICATE if draft.find(header) else Verdict.OUT_OF_ORDER


def _must_wait(draft: ProducerDraft, header: BatchHeader) -> bool:
    """One commit may hold a batch only once, and only one epoch of a producer."""
    newer = header.producer_epoch > draft.epoch
    return any(newer or header.base_sequence == other.base_sequence for other in draft.new)


def accept(draft: ProducerDraft | None, header: BatchHeader) -> ProducerDraft:
    """The draft with a batch that was judged NEXT; a newer epoch starts afresh."""
    if draft is None or header.producer_epoch > draft.epoch:
        draft = ProducerDraft(header.producer_epoch, (), ended=draft.ended if draft else 0)
    draft.new.append(header)
    return draft
