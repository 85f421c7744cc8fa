"""Merge: joins runs of small extents to segments under fresh keys, without effect on readers.

The new object is announced in the ledger before it is written: a sweep that finds it without an
extent can then tell whether it is still needed. One swap puts it into the index and the objects it
was made of into a pending deletion; or it does nothing, because another janitor or retention was
faster. After a crash at any step the index is complete, old or new, and the ledger names all that
is left over.

A late settle cannot bring an old extent back: the ledger refuses an extent for offsets that another
extent holds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from samsa.ports import Extent, Partition, has_passed
from samsa.ports.joining import join_extents

from .copying import copy
from .read import OutOfRange, Reader, indexed_end
from .runs import Sizes, Span, adjoining, apart, settled, shared
from .segments import swap_in
from .stores import Stores

Choose: TypeAlias = Callable[[Sequence[Extent], Sizes], Iterable[Span]]
Replace: TypeAlias = Callable[[Partition, Sequence[Extent]], Awaitable[Extent | None]]
CURSOR = "merge"
PAGE = 500
WINDOW = 50_000
"""Extents that one round looks at. The next round looks at those after them."""


@dataclass
class RoundBudget:
    """The work that a round may still do. When no time is left, nothing new is begun."""

    copied_bytes: int
    swaps: int
    out_of_time: Callable[[], bool] = lambda: False
    rest_s: float = 0
    """Pause between two steps, so that more urgent work can run."""
    turn_s: Callable[[], float] = lambda: 600.0
    """Time after which a step stops at a point where the next round can continue."""
    slack_s: float = 300.0
    """Time after that at which the step is cancelled, because a store hangs."""

    @property
    def spent(self) -> bool:
        return self.copied_bytes <= 0 or self.swaps <= 0 or self.out_of_time()


class Merged(NamedTuple):
    """What a round did."""

    runs: int = 0
    extents: int = 0
    """By how many the index has fewer now."""
    copied_bytes: int = 0
    finished: bool = True
    """False: there is more to do, or another process was faster."""

    @property
    def goes_on(self) -> bool:
        """Whether another round is worthwhile: not if this one could do nothing."""
        return self.runs > 0 and not self.finished


class Merger:
    def __init__(self, stores: Stores, reader: Reader) -> None:
        self._stores = stores
        self._reader = reader
        self._sizes = Sizes(stores.limits.segment_bytes)

    async def merge(
        self, partition: Partition, budget: RoundBudget, sizes: Sizes | None = None
    ) -> Merged:
        """One pass over the extents from the cursor on, as far as the budget goes."""
        sizes = sizes or self._sizes
        try:
            extents = await self._old_enough(partition, budget)
        except OutOfRange:
            return Merged(finished=False)  # retention was faster: these extents are gone
        work = MergeRound(partition, budget, sizes, extents)
        before_ms = self._stores.clock.now_ms() - self._stores.limits.leave_window_ms
        if (
            await work.through(adjoining, self.join)
            and await work.through(apart, self.copy)
            and await work.through(partial(shared, before_ms=before_ms), self.copy)
        ):
            await self._move_cursor(partition, settled(work.extents, sizes))
        if len(extents) >= WINDOW and work.merged.runs:
            return work.merged._replace(finished=False)
        return work.merged

    async def _old_enough(self, partition: Partition, budget: RoundBudget) -> list[Extent]:
        """Extents from the cursor on. The newest are left alone: consumers are reading them."""
        head = await self._reader.head(partition)
        if head.tail:
            await self._stores.journal.settle(partition)
            head = await self._reader.head(partition)
        cursor = await self._stores.ledger.cursor(partition, CURSOR)
        offset, end = max(cursor, head.log_start), indexed_end(head)
        now, after = self._stores.clock.now_ms(), self._stores.limits.merge_after_ms
        found: list[Extent] = []
        while offset < end and len(found) < WINDOW:
            page = await self._reader.extents_from(partition, offset, end, PAGE, head)
            old = list(takewhile(lambda extent: has_passed(now, extent.stored_at, after), page))
            found += old
            if len(old) < len(page):
                break
            offset = page[-1].end
            await asyncio.sleep(budget.rest_s)
        return found

    async def _move_cursor(self, partition: Partition, done: int) -> None:
        if done:
            await self._stores.ledger.move_cursor(partition, CURSOR, done)

    async def join(self, partition: Partition, run: Sequence[Extent]) -> Extent | None:
        """Join extents that are neighbours in one object: no copy. None: another was faster."""
        new = join_extents(run, run[0].key, run[0].start)
        replace = self._stores.ledger.replace_extents
        return new if await self._stores.retry(replace, partition, run, [new]) else None

    async def copy(self, partition: Partition, run: Sequence[Extent]) -> Extent | None:
        stores = self._stores
        return await swap_in(stores, partition, run, copy(stores, run), partial(join_extents, run))


class MergeRound:
    """One round: the extents as they are after each swap, and what is left of the budget."""

    def __init__(
        self, partition: Partition, budget: RoundBudget, sizes: Sizes, extents: list[Extent]
    ) -> None:
        self._sizes = sizes
        self._partition = partition
        self._budget = budget
        self.extents = extents
        self.merged = Merged()

    async def through(self, choose: Choose, replace: Replace) -> bool:
        """Replace the chosen runs, in order. False: the round has to end early."""
        done: list[Extent] = []
        at = 0
        for span in choose(self.extents, self._sizes):
            run = self.extents[span.first : span.last]
            new = None if self._budget.spent else await replace(self._partition, run)
            if new is None:
                self.merged = self.merged._replace(finished=False)
                return False
            done += [*self.extents[at : span.first], new]
            at = span.last
            self._count(run, new)
            await asyncio.sleep(self._budget.rest_s)
        self.extents = done + self.extents[at:]
        return True

    def _count(self, run: Sequence[Extent], new: Extent) -> None:
        copied = new.size if new.key != run[0].key else 0
        self._budget.swaps -= 1
        self._budget.copied_bytes -= copied
        runs, extents, size, finished = self.merged
        self.merged = Merged(runs + 1, extents + len(run) - 1, size + copied, finished)
