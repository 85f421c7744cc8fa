"""Idempotent producers: which batch may be bound to a slot.

Pure: a producer's state and its next batches in, a verdict for each out. The rules are Kafka's, and
one more that a log without a leader needs (DESIGN: bind): a batch is bound only once the batch
before it is known to be stored, because a batch that failed could otherwise be overtaken.

The state keeps the last five batches with their offsets, so that a retry of any request that a
client may have in flight is recognised.
"""

import struct
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from typing import NamedTuple

from samsa.records.batch import BatchHeader

KEPT = 5
SEQUENCES = 1 << 31
_STATE = struct.Struct(">h")
_ENTRY = struct.Struct(">iiqq")
_STATES = [struct.Struct(">h" + count * "iiqq") for count in range(KEPT + 1)]
"""With as many entries."""


class Entry(NamedTuple):
    """One bound batch: its sequence numbers, its offset, and the slot that it was written to."""

    first: int
    last: int
    base: int
    slot: int


class ProducerState(NamedTuple):
    epoch: int
    entries: tuple[Entry, ...]

    def pack(self) -> bytes:
        return _STATES[len(self.entries)].pack(self.epoch, *chain.from_iterable(self.entries))

    @classmethod
    def unpack(cls, data: bytes) -> "ProducerState":
        (epoch,) = _STATE.unpack_from(data)
        return cls(epoch, tuple(map(Entry._make, _ENTRY.iter_unpack(data[_STATE.size :]))))


class Verdict(Enum):
    NEXT = "next in order"
    DUPLICATE = "bound before"
    OUT_OF_ORDER = "not the next in order"
    STALE_EPOCH = "an older epoch of the producer"
    UNKNOWN = "nothing is known of the producer"
    LATER = "must wait for what it shares its slot with"


@dataclass(slots=True)
class Draft:
    """A producer's state as it will be once its batches of one slot are bound."""

    epoch: int
    kept: tuple[Entry, ...]
    new: list[BatchHeader] = field(default_factory=list)

    @classmethod
    def of(cls, state: ProducerState | None) -> "Draft | None":
        return cls(state.epoch, state.entries) if state else None

    def next_sequence(self) -> int | None:
        if self.new:
            return (self.new[-1].last_sequence + 1) % SEQUENCES
        return (self.kept[-1].last + 1) % SEQUENCES if self.kept else None

    def find(self, header: BatchHeader) -> Entry | None:
        wanted = (header.base_sequence, header.last_sequence)
        return next((e for e in self.kept if (e.first, e.last) == wanted), None)

    def rebind(self, entry: Entry, header: BatchHeader) -> None:
        """The slot of `entry` turned out to be filler: it is bound anew, and what followed it (in
        the same slot, else it could not have been bound) is forgotten."""
        self.kept = self.kept[: self.kept.index(entry)]
        self.new.append(header)

    def bound(self, bases: list[int], slot: int) -> ProducerState:
        added = [
            Entry(header.base_sequence, header.last_sequence, base, slot)
            for header, base in zip(self.new, bases, strict=True)
        ]
        return ProducerState(self.epoch, (*self.kept, *added)[-KEPT:])


def judge(draft: Draft | None, header: BatchHeader) -> Verdict:
    if draft is None:
        return Verdict.NEXT if header.base_sequence == 0 else Verdict.UNKNOWN
    if header.producer_epoch < draft.epoch:
        return Verdict.STALE_EPOCH
    newer = header.producer_epoch > draft.epoch
    if not newer and header.base_sequence == draft.next_sequence():
        return Verdict.NEXT
    if _must_wait(draft, header):
        return Verdict.LATER
    if newer:
        return Verdict.NEXT if header.base_sequence == 0 else Verdict.OUT_OF_ORDER
    return Verdict.DUPLICATE if draft.find(header) else Verdict.OUT_OF_ORDER


def _must_wait(draft: Draft, header: BatchHeader) -> bool:
    """One slot holds a batch once, and batches of one epoch."""
    newer = header.producer_epoch > draft.epoch
    return any(newer or header.base_sequence == other.base_sequence for other in draft.new)


def accept(draft: Draft | None, header: BatchHeader) -> Draft:
    """The draft with a batch that was judged NEXT; a newer epoch starts afresh."""
    if draft is None or header.producer_epoch > draft.epoch:
        draft = Draft(header.producer_epoch, ())
    draft.new.append(header)
    return draft
