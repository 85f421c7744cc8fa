"""Progress of compaction: up to where a log is clean, and where an unfinished round stopped.

A round cleans the log from its start to the round's end, against all keys noted below that end. A
cleaned part stays clean, whatever other processes do: no swap brings a record back. So the
statement "below `at` the log is clean of all that lies below `end`" stays true for ever, in
whatever order janitors store it, if the cursor names the end. A cursor without the end would be
wrong as soon as two janitors have rounds with different ends: a tombstone would then be removed
before the records that it deletes.

The end of an unfinished round is stored as well, but only as a hint to continue that round. Only
one such end is kept. A janitor that stores another, or finds that the log is clean beyond it or now
starts after it, removes the cursor of the old round.

When a round is finished, the index has no record of an aborted transaction below its end. That
stays true for ever too, so it is stored in the same way, with the time: after a grace time the
ledger may forget these transactions.
"""

from samsa.ports import Ledger, Partition, has_passed

CLEANED = "compacted"
"""Everything below it was cleaned against every key below it."""
END = "compacting to"
GONE = "aborted gone"
"""Up to here, nothing is left of aborted transactions."""


class Progress:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def cleaned(self, partition: Partition) -> int:
        return await self._ledger.cursor(partition, CLEANED)

    async def end(self, partition: Partition) -> int:
        """The end of the last unfinished round, which may have been finished since."""
        return await self._ledger.cursor(partition, END)

    async def at(self, partition: Partition, end: int) -> int:
        """Where a round to that end continues; 0 if there was none."""
        return await self._ledger.cursor(partition, self.name(end))

    async def leave(self, partition: Partition, end: int, at: int) -> None:
        before = await self.end(partition)
        if before not in (0, end):
            await self._ledger.move_cursor(partition, self.name(before), 0)
        await self._ledger.move_cursor(partition, self.name(end), at)
        await self._ledger.move_cursor(partition, END, end)

    async def give_up(self, partition: Partition, end: int) -> None:
        """A round to that end will not be continued."""
        await self._ledger.move_cursor(partition, self.name(end), 0)
        if await self.end(partition) == end:
            await self._ledger.move_cursor(partition, END, 0)

    async def finish(self, partition: Partition, end: int, was_left: bool) -> None:
        await self._ledger.move_cursor(partition, CLEANED, end)
        if was_left:
            await self._ledger.move_cursor(partition, self.name(end), 0)

    def name(self, end: int) -> str:
        return f"{END} {end}"


class GoneSince:
    """Since when nothing is left of the aborted transactions below some offset. One such offset is
    kept, as long as its grace time runs."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def below(self, partition: Partition, now_ms: int, grace_ms: int) -> int | None:
        """The transactions whose markers are below this may be forgotten. None: not yet."""
        end = await self._ledger.cursor(partition, GONE)
        since = await self._ledger.cursor(partition, self.name(end)) if end else 0
        if not since:
            return 0  # none, or two janitors have noted theirs at the same time
        return end if has_passed(now_ms, since, grace_ms) else None

    async def note(self, partition: Partition, end: int, now_ms: int) -> None:
        before = await self._ledger.cursor(partition, GONE)
        await self._ledger.move_cursor(partition, self.name(end), now_ms)
        await self._ledger.move_cursor(partition, GONE, end)
        if before not in (0, end):
            await self._ledger.move_cursor(partition, self.name(before), 0)

    def name(self, end: int) -> str:
        return f"{GONE} {end}"
