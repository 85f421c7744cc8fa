"""The parts of a log that a round of compaction goes through, with the transactions aborted there.

A part is a group of extents that is rewritten at once. Its aborted transactions are looked up, and
then its extents are read again. If they have changed, the part is planned anew. So a transaction
that has batches in these extents is certainly among those that were found: it is forgotten only
when none of its batches is in the index any more (`compact_progress.py`). With the other order, a
janitor that was suspended between the two would take aborted records for committed ones, and remove
the committed records that they replace.

The head is read before all that. Below its open transactions, everything is decided, and what was
aborted is listed in that head or, from then on, in the ledger.
"""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from samsa.ports import Aborted, Extent, Head, Partition, Unavailable

from .compact_aborted import AbortedIn
from .compact_plan import NEVER_MS, groups
from .read import Reader
from .stores import Stores

PAGE = 1_000
SPARE = 16
"""To ask for more extents than there were: a ledger may leave some out that do not count."""


class CompactionPart(NamedTuple):
    extents: Sequence[Extent]
    aborted: AbortedIn


class CompactionParts:
    def __init__(self, stores: Stores, reader: Reader) -> None:
        self._stores = stores
        self._reader = reader

    async def extents(self, partition: Partition, start: int, end: int) -> AsyncIterator[Extent]:
        while start < end:
            for extent in await self._reader.extents_from(partition, start, end, PAGE):
                yield extent
                start = extent.end

    async def of(
        self, partition: Partition, head: Head, start: int, end: int, span_ms: int = NEVER_MS
    ) -> AsyncIterator[CompactionPart]:
        """Everything from `start` to `end`, in order. Raises Unavailable if the index changes all
        the time."""
        left = self._stores.limits.attempts
        while start < end:
            if not left:
                raise Unavailable(f"{partition}: the index changes too fast at {start}")
            left -= 1
            found = await self._reader.extents_from(partition, start, end, PAGE)
            for group in groups(found, span_ms):
                found_aborted: Sequence[Aborted] = ()
                if group[0].base < head.aborted_to:
                    base, last = group[0].base, group[-1].end
                    found_aborted = await self._reader.aborted(partition, base, last, head)
                    if not await self._is_still_there(partition, group):
                        break
                yield CompactionPart(group, AbortedIn(found_aborted, self._stores.clock.now_ms()))
                start, left = group[-1].end, self._stores.limits.attempts

    async def _is_still_there(self, partition: Partition, group: Sequence[Extent]) -> bool:
        base, end = group[0].base, group[-1].end
        limit = 2 * len(group) + SPARE
        return await self._reader.extents_from(partition, base, end, limit) == list(group)
