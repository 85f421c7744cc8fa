"""A process that ends transactions: decide, write the marker, complete.

Several may do so at once: EndTxn itself, the producer's next incarnation, or the janitor when the
time is over ("timer", which always starts a new epoch).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from one_commit.processes import Setting, Step, is_late
from one_commit.store import ProducerState, Store, Update
from one_commit.writer import Head


class Finisher(NamedTuple):
    name: str
    step: str = "idle"
    serial: int = 0
    outcome: str = ""
    epoch: int = 0
    """Of the transaction once that was decided."""
    head: Head | None = None

    def steps(self, store: Store, late: tuple[Update, ...], setting: Setting) -> Iterator[Step]:
        taken: Iterator[Step] = getattr(self, f"_{self.step}")(store, late, setting)
        return (step._replace(name=f"{self.name}: {step.name}") for step in taken)

    def _go(self, name: str, store: Store, step: str, **changes: Any) -> Step:
        return Step(name, store, self._replace(step=step, **changes))

    def _idle(self, store: Store, _: object, setting: Setting) -> Iterator[Step]:
        transaction = store.transaction
        if transaction.state == "ongoing":
            yield from self._decide(store, setting)
        if transaction.is_decided:
            yield self._begin(f"help with {transaction.serial}", store)

    def _decide(self, store: Store, setting: Setting) -> Iterator[Step]:
        old = store.transaction
        written = any(value == ("transaction", old.serial) for value, _ in store.acknowledged)
        bumps = setting.version == 2 or self.name == "timer"
        for outcome in ("abort", "commit") if written else ("abort",):
            decided = tuple(sorted((*store.decided, (old.serial, outcome))))
            new = old._replace(epoch=old.epoch + bumps, state=outcome)
            after = store._replace(transaction=new, decided=decided)
            yield self._begin(f"decide: {outcome} {old.serial}", after)

    def _begin(self, name: str, store: Store) -> Step:
        epoch, outcome, serial = store.transaction
        return self._go(name, store, "read", serial=serial, outcome=outcome, epoch=epoch)

    def _read(self, store: Store, *_: object) -> Iterator[Step]:
        head = Head(store.producer, store.evictions, open=store.open)
        found = store.producer is not None
        yield self._go("read the head", store, "mark" if found else "read_item", head=head)

    def _read_item(self, store: Store, *_: object) -> Iterator[Step]:
        assert self.head is not None
        head = self.head._replace(evicted=store.evicted)
        yield self._go("read the producer's item", store, "mark", head=head)

    def _mark(self, store: Store, late: tuple[Update, ...], setting: Setting) -> Iterator[Step]:
        assert self.head is not None
        if self.head.state.ended >= self.serial:
            yield self._go("the marker is there", store, "complete")
            return
        update, what = self._update(), f"mark: {self.outcome} {self.serial}"
        after = update.apply(store, setting.broken)
        if after is not None:
            yield self._go(what, after, "complete")
            yield self._go(f"{what}, answer lost", after, "read", head=None)
            if not is_late(update, late):
                delayed = self._go(f"{what}, delayed", store, "read", head=None)
                yield delayed._replace(late=update)
        elif "claim" not in setting.broken or store.base_of(update.id) is None:
            yield self._go(f"{what}: refused", store, "read", head=None)

    def _update(self) -> Update:
        assert self.head is not None
        old = self.head.state
        epoch = max(old.epoch, self.epoch)
        sequence = -1 if epoch > old.epoch else old.sequence
        return Update(
            f"marker{self.serial}.{self.name}",
            ("marker", self.outcome, self.serial),
            self.head.producer,
            ProducerState(epoch, sequence, old.base, self.serial),
            self.head.evictions,
            sweeps=None,
            closes=self.head.open,
        )

    def _complete(self, store: Store, *_: object) -> Iterator[Step]:
        old = store.transaction
        if (old.serial, old.state) == (self.serial, self.outcome):
            done = old._replace(state="empty", serial=self.serial + 1)
            store = store._replace(transaction=done)
        yield Step("complete", store, Finisher(self.name))
