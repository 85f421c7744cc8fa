"""A process that appends one batch: read the head, judge, put, commit, acknowledge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from one_commit.processes import Setting, Step, is_late
from one_commit.store import NEVER_SEEN, ProducerState, Store, Update, Value

TRIES = 2


class Head(NamedTuple):
    """What a process remembers of the head that it read."""

    producer: ProducerState | None
    evictions: int
    sweeps: int = 0
    is_open: bool = False
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

    def _wait(self, store: Store, *_: object) -> Iterator[Step]:
        """For the transaction before this one to end."""
        serial, transaction = self.value[1], store.transaction
        if transaction.serial != serial or transaction.state != "empty":
            return
        if transaction.epoch > self.epoch:  # a new epoch counts from 0
            yield self._go("begin", store, "read", epoch=transaction.epoch)
        elif any(value == ("transaction", serial - 1) for value, _ in store.acknowledged):
            # The old epoch goes on. A client that lost count asks for a new one first.
            yield self._go("begin", store, "read", sequence=1)

    def _read(self, store: Store, *_: object) -> Iterator[Step]:
        if self.attempt == TRIES:
            return
        head = Head(store.producer, store.evictions, store.sweeps, store.open is not None)
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
        elif same_epoch and self.sequence <= state.sequence and not self._is_anew(state, setting):
            if self.sequence == state.sequence:
                yield self._acknowledge("duplicate", store, state.base)
            else:
                yield self._end("duplicate of long ago", store)
        elif same_epoch and self.sequence > state.sequence + 1:
            yield self._end("refused: out of order", store)
        elif self._must_verify(setting):
            yield self._go("judge: first of its transaction here", store, "verify")
        else:
            yield self._go("judge", store, self._store_step)

    def _is_anew(self, state: ProducerState, setting: Setting) -> bool:
        """With version 2 an ended transaction's numbers mean nothing any more."""
        return self.is_transactional and setting.version == 2 and state.ended >= self.value[1]

    def _must_verify(self, setting: Setting) -> bool:
        assert self.head is not None
        return self.is_transactional and not self.head.is_open and "verify" not in setting.broken

    @property
    def _store_step(self) -> str:
        return "put" if self.in_object else "commit"

    def _verify(self, store: Store, *_: object) -> Iterator[Step]:
        transaction = store.transaction
        current = (transaction.epoch, transaction.serial) == (self.epoch, self.value[1])
        if not current or transaction.is_decided:
            yield self._end("refused: no such transaction", store)
        else:
            ongoing = store._replace(transaction=transaction._replace(state="ongoing"))
            yield self._go("add the partition", ongoing, self._store_step)

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
            opens=self.is_transactional,
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
