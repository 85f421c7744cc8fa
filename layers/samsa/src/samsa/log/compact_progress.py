"""How far compaction has come: up to where a log is clean, and where a round left off.

A round cleans the log from its start to its end, against all that was noted below that end. What it
has cleaned stays so, whoever does what meanwhile: no swap brings a record back. So "below `at` the
log is clean of all that lies below `end`" is true for ever once it is true, in whatever order
janitors say it, if the cursor says which end it speaks of. One without would lie as soon as two
janitors have rounds with different ends, and a tombstone would go before what it had deleted.

Which end a round was going to is remembered as well, but only as a proposal to go on with it. That
of one round at a time: whoever puts another in its place, or finds that the log is clean beyond it
or does not reach back to it any more, takes the cursor of the old one away.
"""

from samsa.ports import Ledger, Partition

CLEANED = "compacted"
"""Everything below it was cleaned against every key below it."""
END = "compacting to"


class Progress:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def cleaned(self, partition: Partition) -> int:
        return await self._ledger.cursor(partition, CLEANED)

    async def end(self, partition: Partition) -> int:
        """Of the round that was left off last. It may be finished since."""
        return await self._ledger.cursor(partition, END)

    async def at(self, partition: Partition, end: int) -> int:
        """Where a round to that end goes on; 0 if there was none."""
        return await self._ledger.cursor(partition, self.name(end))

    async def leave(self, partition: Partition, end: int, at: int) -> None:
        before = await self.end(partition)
        if before not in (0, end):
            await self._ledger.move_cursor(partition, self.name(before), 0)
        await self._ledger.move_cursor(partition, self.name(end), at)
        await self._ledger.move_cursor(partition, END, end)

    async def give_up(self, partition: Partition, end: int) -> None:
        """Nobody will go on with a round to that end."""
        await self._ledger.move_cursor(partition, self.name(end), 0)
        if await self.end(partition) == end:
            await self._ledger.move_cursor(partition, END, 0)

    async def finish(self, partition: Partition, end: int, was_left: bool) -> None:
        await self._ledger.move_cursor(partition, CLEANED, end)
        if was_left:
            await self._ledger.move_cursor(partition, self.name(end), 0)

    def name(self, end: int) -> str:
        return f"{END} {end}"
