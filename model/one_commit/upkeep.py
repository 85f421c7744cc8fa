"""The processes that tidy up: settling, eviction, sweeping. And a reader, which looks twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from one_commit.processes import Setting, Step
from one_commit.store import Entry, ProducerState, Store


class Settler(NamedTuple):
    """Moves entries from the tail to the index. Its two calls are one step: an entry that is in
    both for a while says the same in both."""

    def steps(self, store: Store, *_: object) -> Iterator[Step]:
        for count in range(1, len(store.tail) + 1):
            extents, tail = store.extents + store.tail[:count], store.tail[count:]
            yield Step(f"settle {count}", store._replace(extents=extents, tail=tail), self)


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


class Reader(NamedTuple):
    """Reads head and index in two calls, the head first."""

    step: str = "idle"
    end: int = 0
    found: tuple[Entry, ...] = ()

    def steps(self, store: Store, _: object, setting: Setting) -> Iterator[Step]:
        index_first = "head-first" in setting.broken
        if self.step == "idle" and store.next:
            first = store.extents if index_first else store.tail
            yield Step("reader: first look", store, Reader("second", store.next, first))
        elif self.step == "second":
            end = store.next if index_first else self.end
            other = store.tail if index_first else store.extents
            bases = {entry.base for entry in self.found + other}
            missed = any(base not in bases for base in range(end))
            yield Step("reader: second look", store, Reader("missed" if missed else "idle"))
