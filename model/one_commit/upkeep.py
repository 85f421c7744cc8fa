"""The processes that tidy up: settling, eviction, sweeping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from one_commit.processes import Setting, Step
from one_commit.store import Aborted, ProducerState, Store


class Settler(NamedTuple):
    """Moves entries, and what their markers aborted, from the head to the index. Its two calls are
    one step: what is in both for a while says the same in both."""

    left: tuple[Aborted, ...] = ()
    """What it took out of the head and has not stored yet."""

    def steps(self, store: Store, _: object, setting: Setting) -> Iterator[Step]:
        if self.left:
            after = store._replace(aborted_before=store.aborted_before + self.left)
            yield Step("settle: store what was aborted", after, Settler())
            return
        for count in range(1, len(store.tail) + 1):
            gone, tail = store.tail[:count], store.tail[count:]
            after = store._replace(extents=store.extents + gone, tail=tail)
            if store.aborted:
                yield self._aborted(f"settle {count}", after, gone[-1].base, setting)
            else:
                yield Step(f"settle {count}", after, self)

    def _aborted(self, name: str, store: Store, last: int, setting: Setting) -> Step:
        gone = tuple(one for one in store.aborted if one[0] <= last)
        after = store._replace(aborted=store.aborted[len(gone) :])
        if "aborted-first" in setting.broken:
            return Step(name, after, Settler(gone))
        return Step(name, after._replace(aborted_before=store.aborted_before + gone), self)


class Evictor(NamedTuple):
    step: str = "idle"
    state: ProducerState | None = None

    def steps(self, store: Store, _: object, setting: Setting) -> Iterator[Step]:
        if self.step == "idle" and store.producer is not None:
            yield Step("evict: read", store, Evictor("write", store.producer))
        elif self.step == "write":
            assert self.state is not None
            forward = _age(self.state) > _age(store.evicted) or "evict-forward" in setting.broken
            after = store._replace(evicted=self.state) if forward else store
            yield Step("evict: write the item", after, Evictor("remove", self.state))
        elif self.step == "remove":
            after = store
            if store.producer == self.state:
                after = store._replace(producer=None, evictions=store.evictions + 1)
            yield Step("evict: take it out of the head", after, Evictor())


def _age(state: ProducerState) -> tuple[int, int, int]:
    return state.epoch, state.ended, state.sequence


class Sweeper(NamedTuple):
    step: str = "idle"
    listed: tuple[str, ...] = ()

    def steps(self, store: Store, _: object, setting: Setting) -> Iterator[Step]:
        late = "list-first" in setting.broken
        counted = store._replace(sweeps=store.sweeps + 1)
        if self.step == "idle":
            if store.objects and store.sweeps < 3:
                first = store, Sweeper("second", store.objects)
                yield (
                    Step("sweep: list", *first)
                    if not late
                    else Step("sweep: count", counted, Sweeper("second"))
                )
        elif self.step == "second":
            if late:
                yield Step("sweep: list", store, Sweeper("look", store.objects))
            else:
                yield Step("sweep: count", counted, Sweeper("look", self.listed))
        elif self.step == "look":
            named = {entry.id for entry in store.entries}
            orphans = tuple(name for name in self.listed if name not in named)
            yield Step("sweep: look for references", store, Sweeper("delete", orphans))
        elif self.step == "delete":
            left = tuple(name for name in store.objects if name not in self.listed)
            yield Step("sweep: delete", store._replace(objects=left), Sweeper())
