"""A read-only SQLite ledger that takes no lock and writes nothing.

It is used for reads that must not slow a broker down. If the ledger is opened as a broker opens it,
a process that was alone must share it, and from then on needs a transaction for every append
(`ownership.py`).

It shows every append that was acknowledged before it was opened: it waits until the notes are
settled, mostly some milliseconds. If the process that wrote the notes has died, it opens the ledger
normally for a moment, which settles them. The same if the ledger has an older format: that upgrades
it.
"""

import asyncio
import os
import sqlite3
from collections import defaultdict
from urllib.parse import quote

from samsa.local.append_journal import AppendJournal
from samsa.local.database import BUSY_TIMEOUT_MS, store_call
from samsa.local.ownership import is_held_alone
from samsa.local.schema import format_of
from samsa.local.sqlite import SqliteLedger
from samsa.local.upgrade import needs_upgrade
from samsa.local.write_behind import IN_MEMORY, WriteBehind
from samsa.ports import Partition, Topic, Unavailable, UnknownPartition

LOOKS = 5_000
LOOK_EVERY_S = 0.002


class ReadOnlyLedger(SqliteLedger):
    """Calls that write fail: SQLite refuses them."""

    def __init__(self, path: str) -> None:
        """Raises Misconfigured if the ledger has another format."""
        # Does not call SqliteLedger.__init__: no schema, no lock, no checkpoints.
        self.calls = defaultdict(int)
        self.thread = None
        self._db = sqlite3.connect(
            f"file:{quote(path)}?mode=ro",
            uri=True,
            timeout=BUSY_TIMEOUT_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
        )
        format_of(self._db, path)
        self.write_behind = WriteBehind(IN_MEMORY, self._db, lambda _: None)

    def failed(self, name: str, error: sqlite3.Error) -> Unavailable:
        """A refused write says nothing about the disk here: the connection is read-only."""
        return Unavailable(f"SQLite {name}: {error}")

    def before(self, name: str, about: object) -> None:
        """Does nothing: there are no notes here."""

    def finish(self) -> None:
        """Does nothing: only the connection is open."""

    @store_call
    def topics(self) -> list[Topic]:
        """Without the cache of `TopicList`: a read-only ledger asks only once."""
        return self._select_topics("topics ORDER BY name")

    def shows(self, partition: Partition, offset: int) -> bool:
        """Whether the log has reached `offset`, or its topic is gone."""
        try:
            return self._head(partition).next_offset >= offset
        except UnknownPartition:
            return True


async def look_on(path: str) -> ReadOnlyLedger:
    """The ledger as it is now, with all acknowledged appends. Raises Unavailable."""
    try:
        os.stat(path)
        if needs_upgrade(path):
            await _open_for_a_moment(path)
        ledger = ReadOnlyLedger(path)
        noted = _noted(f"{path}-notes")
        for _ in range(LOOKS):
            if all(ledger.shows(*end) for end in noted.items()):
                return ledger
            if not is_held_alone(path):
                await _open_for_a_moment(path)
            await asyncio.sleep(LOOK_EVERY_S)
    except FileNotFoundError:
        raise Unavailable(f"there is no ledger at {path}") from None
    except (OSError, sqlite3.Error) as error:
        raise Unavailable(f"reading {path}: {error}") from error
    raise Unavailable(f"another process keeps {path} to itself and does not write its notes down")


async def _open_for_a_moment(path: str) -> None:
    """Opening the ledger upgrades it and settles the notes."""
    await (await asyncio.to_thread(SqliteLedger, path)).close()


def _noted(path: str) -> dict[Partition, int]:
    """The next offset of each partition by its notes. Notes cleared meanwhile are settled."""
    if not os.path.exists(path):
        return {}
    notes = AppendJournal(path)
    try:
        return {note.partition: note.extent.end for note in notes.read()}
    finally:
        notes.close()
