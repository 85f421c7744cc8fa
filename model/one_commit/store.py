"""What the stores hold, and the one update that appends.

Everything is a tuple, so that two equal states are one. One partition, one producer, one
transactional id: the protocol keeps others apart by their keys.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Aborted = tuple[int, int]
"""The offset of the marker, and the first offset of what it aborts."""
Value = tuple[Any, ...]
"""What a record holds: ("plain", n), ("idempotent", n), ("transaction", serial), or
("marker", outcome, serial)."""


class ProducerState(NamedTuple):
    epoch: int = 0
    sequence: int = -1
    """Of its last batch."""
    base: int = -1
    """Where that batch is."""
    ended: int = 0
    """The serial of its last transaction that has a marker here."""


NEVER_SEEN = ProducerState()


class Entry(NamedTuple):
    base: int
    id: str
    value: Value
    in_object: bool


class Transaction(NamedTuple):
    epoch: int = 0
    state: str = "empty"
    """empty, ongoing, commit or abort."""
    serial: int = 1

    @property
    def is_decided(self) -> bool:
        return self.state in ("commit", "abort")


class View(NamedTuple):
    """What a process once saw of the transaction: it was ongoing, with the partition in it."""

    serial: int
    epoch: int


class Store(NamedTuple):
    # The head
    next: int = 0
    tail: tuple[Entry, ...] = ()
    producer: ProducerState | None = None
    evictions: int = 0
    sweeps: int = 0
    open: int | None = None
    """The first offset of the transaction that is open here."""
    aborted: tuple[Aborted, ...] = ()
    """Those whose markers are in the tail."""
    # Other items
    evicted: ProducerState = NEVER_SEEN
    """The producer's own item, where its state goes when the head is crowded."""
    extents: tuple[Entry, ...] = ()
    """The index."""
    aborted_before: tuple[Aborted, ...] = ()
    """Those whose markers are in the index."""
    objects: tuple[str, ...] = ()
    transaction: Transaction = Transaction()
    # What the outside world has seen
    begun: tuple[View, ...] = ()
    """Of every transaction until now. A process may still have any of them in memory."""
    decided: tuple[tuple[int, str], ...] = ()
    """By serial: how its transaction ended."""
    acknowledged: tuple[tuple[Value, int], ...] = ()
    read: tuple[tuple[int, Value], ...] = ()

    @property
    def stable_end(self) -> int:
        return self.next if self.open is None else min(self.open, self.next)

    @property
    def ongoing(self) -> int:
        """The serial of the transaction that is ongoing; 0 if none is."""
        return self.transaction.serial if self.transaction.state == "ongoing" else 0

    @property
    def entries(self) -> tuple[Entry, ...]:
        return self.extents + self.tail

    def base_of(self, entry_id: str) -> int | None:
        return next((entry.base for entry in self.entries if entry.id == entry_id), None)

    def begin(self) -> Store:
        """The transaction is ongoing from now on, and has the partition."""
        ongoing = self.transaction._replace(state="ongoing")
        view = View(ongoing.serial, ongoing.epoch)
        return self._replace(transaction=ongoing, begun=(*self.begun, view))

    def acknowledge(self, value: Value, base: int) -> Store:
        told = tuple(sorted({*self.acknowledged, (value, base)}))
        return self._replace(acknowledged=told)


class Update(NamedTuple):
    """One conditional update of the head. What it expects was read before."""

    id: str
    value: Value
    expected: ProducerState | None
    """The producer's state in the head; None if it was not there."""
    new: ProducerState | None
    """None for a batch without a producer id."""
    evictions: int
    sweeps: int | None
    """None for a marker, which its claim alone protects."""
    in_object: bool = False
    opens: bool = False
    """The transaction has nothing open here yet, in the head that was read."""
    closes: int | None = None
    """Of a marker: the first offset of what was open in the head that was read."""

    def apply(self, store: Store, broken: frozenset[str]) -> Store | None:
        """None if the condition does not hold."""
        if not self._holds(store, broken):
            return None
        entry = Entry(store.next, self.id, self.value, self.in_object)
        after = store._replace(next=store.next + 1, tail=(*store.tail, entry))
        if self.value[0] == "marker":
            return self._end(store, after, broken)
        if self.new is not None:
            after = after._replace(producer=self.new._replace(base=store.next))
        return after._replace(open=store.next) if self.opens else after

    def _holds(self, store: Store, broken: frozenset[str]) -> bool:
        if any(entry.id == self.id for entry in store.tail):
            return False
        if self.sweeps not in (None, store.sweeps) and "sweep-count" not in broken:
            return False
        if self.new is None:
            return True
        if self.expected is not None:
            return store.producer == self.expected or "claim" in broken
        nobody_left = store.evictions == self.evictions or "eviction-count" in broken
        return store.producer is None and nobody_left

    def _end(self, before: Store, after: Store, broken: frozenset[str]) -> Store:
        """A marker: the transaction is no longer open here."""
        if self.closes is not None:
            after = after._replace(open=None)
            if self.value[1] == "abort":
                aborted = tuple(sorted((*before.aborted, (before.next, self.closes))))
                after = after._replace(aborted=aborted)
        producer = before.producer if "marker-claims" in broken else self.new
        return after._replace(producer=producer)
