"""A process that appends one batch: read the head, judge, put, commit, acknowledge.

If the batch is transactional, the process first looks at the transaction. It may use an old view of
it. The batch then has the serial of the transaction in which the partition was found, and it is
refused where that transaction has ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from one_commit.processes import Setting, Step, is_late
from one_commit.store import NEVER_SEEN, ProducerState, Store, Transaction, Update, Value

TRIES = 2
NOT_COMPARED = 99
"""In place of a serial, if no process looked at the transaction."""


class Head(NamedTuple):
    """What a process remembers of the head that it read."""

    producer: ProducerState | None
    evictions: int
    sweeps: int = 0
    open: int | None = None
    evicted: ProducerState = NEVER_SEEN
    """From the producer's own item, if the head does not have it."""

    @property
    def state(self) -> ProducerState:
        return self.evicted if self.producer is None else self.producer


class Writer(NamedTuple):
    value: Value
    sequence: int = -1
    copy: int = 0
    """Which of the processes that were sent the same batch."""
    in_object: bool = False
    step: str = "read"
    epoch: int = 0
    attempt: int = 0
    head: Head | None = None
    serial: int = 0
    """Of the transaction in which the partition was found."""

    @property
    def name(self) -> str:
        return f"{self.value[0]} {self.value[1]}, copy {self.copy}"

    @property
    def is_idempotent(self) -> bool:
        return bool(self.value[0] != "plain")

    @property
    def is_transactional(self) -> bool:
        return bool(self.value[0] == "transaction")

    def steps(self, store: Store, late: tuple[Update, ...], setting: Setting) -> Iterator[Step]:
        taken: Iterator[Step] = getattr(self, f"_{self.step}")(store, late, setting)
        return (step._replace(name=f"{self.name}: {step.name}") for step in taken)

    def _go(self, name: str, store: Store, step: str, **changes: Any) -> Step:
        return Step(name, store, self._replace(step=step, **changes))

    def _end(self, name: str, store: Store) -> Step:
        return self._go(name, store, "done", head=None)

    def _acknowledge(self, name: str, store: Store, base: int) -> Step:
        return self._end(name, store.acknowledge(self.value, base))

    def _done(self, *_: object) -> Iterator[Step]:
        return iter(())

    def _begin(self, store: Store, *_: object) -> Iterator[Step]:
        """The client begins, once the transaction before this one has ended."""
        serial, transaction = self.value[1], store.transaction
        if (transaction.serial, transaction.state) != (serial, "empty"):
            return
        epoch, sequence = transaction.epoch, self.sequence
        if epoch == self.epoch:
            if any(value == ("transaction", serial - 1) for value, _ in store.acknowledged):
                sequence = 1  # the old epoch goes on
            else:  # the client has lost count, and asks for a new epoch, which counts from 0
                epoch += 1
                store = store._replace(transaction=transaction._replace(epoch=epoch))
        yield self._go("begin", store, "look", epoch=epoch, sequence=sequence)

    def _look(self, store: Store, late: tuple[Update, ...], setting: Setting) -> Iterator[Step]:
        """At the transaction, or at what is in memory of it."""
        if "verify" in setting.broken:
            yield self._go("do not look at the transaction", store, "read", serial=NOT_COMPARED)
            return
        for serial, epoch in store.begun:
            if epoch == self.epoch and serial != store.ongoing:
                yield self._go(f"found in {serial} once", store, "read", serial=serial)
        yield from self._look_again(store, late, setting)

    def _look_again(self, store: Store, _: object, setting: Setting) -> Iterator[Step]:
        """At the transaction as it is now."""
        transaction = store.transaction
        serial, is_mine = transaction.serial, transaction.epoch == self.epoch
        if is_mine and transaction.state == "ongoing":
            yield self._go(f"found in {serial} now", store, "read", serial=serial)
        elif is_mine and transaction.state == "empty" and self._adds(transaction, setting):
            what = f"add the partition to {serial}"
            yield self._go(what, store.begin(), "read", serial=serial)
        else:
            yield self._end("refused: no such transaction", store)

    def _adds(self, transaction: Transaction, setting: Setting) -> bool:
        """With version 2 any batch adds its partition. With version 1 the client does, before it
        sends the first; and only the client knows which transaction that is for."""
        return setting.version == 2 or transaction.serial == self.value[1]

    def _read(self, store: Store, *_: object) -> Iterator[Step]:
        if self.attempt == TRIES:
            return
        head = Head(store.producer, store.evictions, store.sweeps, store.open)
        complete = store.producer is not None or not self.is_idempotent
        yield self._go("read the head", store, "judge" if complete else "read_item", head=head)

    def _read_item(self, store: Store, *_: object) -> Iterator[Step]:
        assert self.head is not None
        head = self.head._replace(evicted=store.evicted)
        yield self._go("read the producer's item", store, "judge", head=head)

    def _judge(self, store: Store, _: object, setting: Setting) -> Iterator[Step]:
        assert self.head is not None
        state = self.head.state
        same_epoch = self.is_idempotent and state.epoch == self.epoch
        if self.is_idempotent and state.epoch > self.epoch:
            yield self._end("refused: stale epoch", store)
        elif same_epoch and self.sequence == state.sequence:
            yield self._acknowledge("duplicate", store, state.base)
        elif self._has_ended(state, setting):
            # It came late; or the view was old, and its client has begun another transaction.
            yield self._go("that one has ended", store, "look_again", head=None)
        elif same_epoch and self.sequence < state.sequence:
            yield self._end("duplicate of long ago", store)
        elif same_epoch and self.sequence > state.sequence + 1:
            yield self._end("refused: out of order", store)
        else:
            yield self._go("judge", store, "put" if self.in_object else "commit")

    def _has_ended(self, state: ProducerState, setting: Setting) -> bool:
        compares = self.is_transactional and "serial" not in setting.broken
        return compares and state.ended >= self.serial

    @property
    def _id(self) -> str:
        return f"{self.value[0]}{self.value[1]}.{self.copy}.{self.attempt}"

    def _put(self, store: Store, *_: object) -> Iterator[Step]:
        objects = tuple(sorted({*store.objects, self._id}))
        yield self._go("put", store._replace(objects=objects), "commit")

    def _commit(self, store: Store, late: tuple[Update, ...], setting: Setting) -> Iterator[Step]:
        update = self._update()
        after = update.apply(store, setting.broken)
        if after is not None:
            yield self._acknowledge("commit", after, store.next)
            unknown = "look_up" if "fence" in setting.broken else "fence"
            yield self._go("commit, answer lost", after, unknown)
            if not is_late(update, late):
                yield self._go("commit, delayed", store, unknown)._replace(late=update)
        elif (base := store.base_of(self._id)) is not None:
            yield self._acknowledge("commit: it is there", store, base)
        else:
            again = self.attempt + 1
            yield self._go("commit: refused", store, "read", attempt=again, head=None)

    def _update(self) -> Update:
        assert self.head is not None
        new = None
        if self.is_idempotent:
            new = ProducerState(self.epoch, self.sequence, -1, self.head.state.ended)
        return Update(
            self._id,
            self.value,
            self.head.producer,
            new,
            self.head.evictions,
            self.head.sweeps,
            self.in_object,
            opens=self.is_transactional and self.head.open is None,
        )

    def _fence(self, store: Store, *_: object) -> Iterator[Step]:
        """From here on the update cannot arrive any more: what is found stays true."""
        counted = store._replace(sweeps=store.sweeps + 1)
        yield self._go("count a sweep", counted, "look_up")

    def _look_up(self, store: Store, _: object, setting: Setting) -> Iterator[Step]:
        base = store.base_of(self._id)
        if base is not None:
            yield self._acknowledge("it is there", store, base)
        elif "fence" in setting.broken:
            yield self._go("not there, send it again", store, "commit")
        else:
            again = self.attempt + 1
            yield self._go("not there, start again", store, "read", attempt=again, head=None)
