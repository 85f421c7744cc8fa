"""Write-behind: an append is final as a note, and many notes are settled in one transaction later.

It is used only while the process is alone with the ledger. Then no other process can change a head
or a producer's state. So the process knows the head of each partition that it appended to, and the
last version of each producer's state, and needs no transaction for each append.

The delay is not visible: every ledger call settles the notes first, and reads at the end of a
partition are answered from the notes. Notes that are adjacent in one pack become one extent of the
index, so readers have less work too.

After a crash, the next process that opens the ledger settles the notes it finds. Settling a note
twice does no harm (`settling.py`).
"""

import asyncio
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress

from samsa.local.append_journal import AppendJournal, Note
from samsa.local.database import is_busy
from samsa.local.open_transactions import follow, raise_if_too_many
from samsa.local.ownership import Ownership
from samsa.local.schema import committed
from samsa.local.settling import write_notes
from samsa.local.upgrade import upgrade
from samsa.ports import Claim, CommitResult, Extent, Head, Partition, Tail

IN_MEMORY = ":memory:"
SETTLE_AFTER_S = 0.05
"""A ledger call settles at once. Without one, notes wait this long, to share a transaction."""
SETTLE_AGAIN_S = 0.1
MANY = 500
TOO_MANY = 20_000
MOST_AT_ONCE = 64
REMEMBERED = 100_000


class Standing:
    """What this process knows of a partition while it is alone."""

    __slots__ = ("head", "unsettled", "versions")

    def __init__(self, head: Head) -> None:
        self.head = head
        self.versions: dict[int, int] = {}
        """The versions of its producers' states, of those that appended through this process."""
        self.unsettled: list[Extent] = []
        """The extents of its notes that are not settled yet."""


class WriteBehind:
    def __init__(
        self, path: str, db: sqlite3.Connection, failed: Callable[[sqlite3.Error], object]
    ) -> None:
        self._path = path
        self._db = db
        self._failed = failed
        """Called with SQLite's errors in the background, where no caller can get them."""
        self.waiting: list[Note] = []
        self._standings: dict[Partition, Standing] = {}
        self._remembered = 0
        """How many partitions and producers `_standings` has."""
        self._with_notes: list[Standing] = []
        self._perhaps_written = False
        """Whether an attempt to settle the waiting notes failed: they may be written or not."""
        self._timer: asyncio.TimerHandle | None = None
        self._ownership: Ownership | None = None
        self._notes: AppendJournal | None = None
        if path != IN_MEMORY:
            self._notes = AppendJournal(f"{path}-notes")
            try:
                self._ownership = Ownership(path, self._recover)
            except BaseException:
                self._notes.close()
                raise

    def _recover(self, is_only: bool) -> None:
        """Settle the notes of the last process that was alone. Before that, upgrade an older
        ledger. Raises Misconfigured, sqlite3.Error."""
        assert self._notes is not None
        upgrade(self._db, self._path, is_only)
        self._notes.look_again()
        if not self._notes.empty:
            self._write(list(self._notes.read()), perhaps_again=True)
            self._notes.clear()

    # Being alone

    @property
    def alone(self) -> bool:
        return self._ownership is not None and self._ownership.alone

    @property
    def was_first(self) -> bool:
        return self._ownership is not None and self._ownership.was_first

    def try_alone(self) -> bool:
        return self._ownership is not None and self._ownership.try_alone()

    def let_others_in(self) -> None:
        """Share the ledger if another process knocks. Raises sqlite3.Error: then it stays alone."""
        if self._ownership is not None and self._ownership.alone and self._ownership.knocked:
            self.settle()
            self.forget_all()
            self._ownership.share()

    # Appending

    def next_offset(self, partition: Partition) -> int | None:
        """None if only the ledger knows."""
        standing = self._standings.get(partition)
        return None if standing is None else standing.head.next_offset

    def commit(
        self, partition: Partition, extent: Extent, key: str, start: int, claims: Sequence[Claim]
    ) -> CommitResult | None:
        """None if it needs a transaction. Raises NotDone; OSError: then the note may be written or
        not."""
        standing = self._standings.get(partition)
        if standing is None or not self.alone:
            return None
        before, versions = standing.head, standing.versions
        is_plain = not before.open_transactions
        for claim in claims:
            if versions.get(claim.producer_id) != claim.after:
                return None
            if claim.opens >= 0 or claim.ends is not None:
                is_plain = False
        if len(self.waiting) >= MANY and not self._made_room():
            return None
        base = before.next_offset
        placed = committed(extent, base, key, start)
        note = Note(partition, placed, tuple(claims))
        head = Head(
            base + extent.offsets,
            before.log_start,
            before.watchers,
            0,
            (),
            before.open_transactions,
            before.aborted_to,
        )
        if not is_plain:
            head, aborted = follow(head, base, claims)
            raise_if_too_many(before, head)
            opened = tuple(head.open_transactions.get(claim.producer_id) for claim in claims)
            note = note._replace(opened=opened, aborted=aborted)
        assert self._notes is not None
        self._notes.add(note)
        self.waiting.append(note)
        if not standing.unsettled:
            self._with_notes.append(standing)
        standing.unsettled.append(placed)
        standing.head = head
        for claim in claims:
            versions[claim.producer_id] = claim.after + 1
        if self._timer is None:
            self._settle_after(SETTLE_AFTER_S)
        return CommitResult(head, base)

    def remember(self, partition: Partition, head: Head, claims: Sequence[Claim] = ()) -> None:
        """Keep the current head, and the producers' states that an append stored. What is known of
        other producers stays true."""
        if not self.alone:
            return
        if self._remembered > REMEMBERED:
            self.forget_all()
        standing = self._standings.get(partition)
        if standing is None:
            standing = self._standings[partition] = Standing(head)
            self._remembered += 1
        standing.head = head
        for claim in claims:
            if claim.producer_id not in standing.versions:
                self._remembered += 1
            standing.versions[claim.producer_id] = claim.after + 1

    def forget(self, partition: Partition) -> None:
        standing = self._standings.pop(partition, None)
        if standing is not None:
            self._remembered -= 1 + len(standing.versions)

    def forget_all(self) -> None:
        self._standings.clear()
        self._remembered = 0

    # Reading

    def tail(self, partition: Partition, offset: int) -> Tail | None:
        """Fast path of reads at the end of a partition: without settling, and without a query."""
        standing = self._standings.get(partition)
        if standing is None:
            return None
        head, unsettled = standing.head, standing.unsettled
        if offset >= head.next_offset:
            return Tail(head, [])
        if unsettled and offset >= unsettled[0].base:
            first = bisect_right(unsettled, offset, key=_base) - 1
            return Tail(head, unsettled[first : first + MOST_AT_ONCE])
        if head.open_transactions and offset >= head.stable_end:
            # A reader of committed data waits here. Every append behind an open transaction wakes
            # it, and it finds nothing more.
            return Tail(head, [])
        return None

    # Writing down

    def settle(self) -> None:
        """Write all notes to the database. Raises sqlite3.Error: then the notes stay."""
        if self.waiting:
            try:
                self._write(self.waiting, perhaps_again=self._perhaps_written)
            except sqlite3.Error as error:
                self._perhaps_written |= not is_busy(error)
                raise
            self._perhaps_written = False
            self.waiting = []
            written, self._with_notes = self._with_notes, []
            for standing in written:
                standing.unsettled.clear()
            assert self._notes is not None
            with suppress(OSError):  # notes read again do no harm; the next settle clears them
                self._notes.clear()

    def _write(self, notes: list[Note], perhaps_again: bool) -> None:
        write_notes(self._db, notes, perhaps_again)

    def _made_room(self) -> bool:
        try:
            self.settle()
        except sqlite3.Error as error:
            self._failed(error)
            return len(self.waiting) < TOO_MANY
        return True

    def _settle_after(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._settle_now)

    def _settle_now(self) -> None:
        self._timer = None
        try:
            self.settle()
        except sqlite3.Error as error:
            self._failed(error)
            self._settle_after(SETTLE_AGAIN_S)  # the notes are safe in their file

    def close(self) -> None:
        """Notes that cannot be settled now stay in their file, for the next open of the ledger."""
        if self._timer is not None:
            self._timer.cancel()
        if self._ownership is not None and self._notes is not None:
            try:
                self.settle()
            except sqlite3.Error:
                self.waiting = []
            self._notes.close()
            self._ownership.close()


def _base(extent: Extent) -> int:
    return extent.base
