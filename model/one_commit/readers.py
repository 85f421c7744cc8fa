"""The processes that read: each reads head and index in two calls, the head first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from one_commit.consumer import misread
from one_commit.processes import Setting, Step
from one_commit.store import Aborted, Entry, Store


class Found(NamedTuple):
    """What one of the two calls has found."""

    entries: tuple[Entry, ...] = ()
    aborted: tuple[Aborted, ...] = ()


class Reader(NamedTuple):
    reads_committed: bool = False
    """Up to the stable end, with the transactions that were aborted."""
    step: str = "idle"
    end: int = 0
    found: Found = Found()
    fault: str = ""

    def steps(self, store: Store, _: object, setting: Setting) -> Iterator[Step]:
        index_first = "head-first" in setting.broken
        head = Found(store.tail, store.aborted)
        index = Found(store.extents, store.aborted_before)
        end = store.stable_end if self.reads_committed else store.next
        if self.step == "idle" and end:
            first = index if index_first else head
            after = self._replace(step="second", end=end, found=first)
            yield Step("reader: first look", store, after)
        elif self.step == "second":
            other = head if index_first else index
            fault = self._fault(store, end if index_first else self.end, other)
            yield Step("reader: second look", store, Reader(self.reads_committed, fault=fault))

    def _fault(self, store: Store, end: int, other: Found) -> str:
        values = {entry.base: entry.value for entry in self.found.entries + other.entries}
        if any(base not in values for base in range(end)):
            return "a reader missed an offset"
        if not self.reads_committed:
            return ""
        aborted = self.found.aborted + other.aborted
        return misread(end, values, aborted, dict(store.decided))
