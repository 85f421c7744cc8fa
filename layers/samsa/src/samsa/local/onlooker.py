"""The SQLite ledger of somebody who only reads, and does not want to be noticed.

Opening a ledger as a broker does makes whoever is alone with it let us in, and from then on write
every append down at once (`ownership.py`). For a look that is too much. An onlooker takes no lock
and writes nothing. What has been noted but not yet written down when it comes, it waits for: some
milliseconds, mostly. If nobody is there to write it down, because that process has died, it opens
the ledger as anybody would, for as long as that takes.
"""

import asyncio
import os
import sqlite3
from collections import defaultdict
from urllib.parse import quote

from samsa.local.database import BUSY_TIMEOUT_MS, store_call
from samsa.local.noted import IN_MEMORY, NotedAppends
from samsa.local.notes import Notes
from samsa.local.ownership import is_somebody_alone
from samsa.local.schema import format_of
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Partition, Topic, Unavailable, UnknownPartition

LOOKS = 5_000
LOOK_EVERY_S = 0.002


class Onlooker(SqliteLedger):
    """Its calls that write fail: SQLite refuses them."""

    def __init__(self, path: str) -> None:
        """Raises Misconfigured: the ledger is of another format."""
        # Not as a ledger is opened: no schema, no lock, no checkpoints.
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
        self.noted = NotedAppends(IN_MEMORY, self._db, lambda _: None)

    def failed(self, name: str, error: sqlite3.Error) -> Unavailable:
        """It says nothing about the disk that SQLite refuses to write."""
        return Unavailable(f"SQLite {name}: {error}")

    def before(self, name: str, about: object) -> None:
        """Nothing of ours waits to be written down."""

    def finish(self) -> None:
        """Nothing of ours is open but the connection."""

    @store_call
    def topics(self) -> list[Topic]:
        """It asks once: nothing is kept for the next time."""
        return self._select_topics("topics ORDER BY name")

    def shows(self, partition: Partition, offset: int) -> bool:
        """Whether the log has come so far, or its topic is gone."""
        try:
            return self._head(partition).next_offset >= offset
        except UnknownPartition:
            return True


async def look_on(path: str) -> Onlooker:
    """The ledger as it is now, with all that anybody was answered for. Raises Unavailable."""
    try:
        os.stat(path)
        ledger = Onlooker(path)
        noted = _noted(f"{path}-notes")
        for _ in range(LOOKS):
            if all(ledger.shows(*end) for end in noted.items()):
                return ledger
            if not is_somebody_alone(path):
                # To open it writes down what is noted.
                await (await asyncio.to_thread(SqliteLedger, path)).close()
            await asyncio.sleep(LOOK_EVERY_S)
    except FileNotFoundError:
        raise Unavailable(f"there is no ledger at {path}") from None
    except (OSError, sqlite3.Error) as error:
        raise Unavailable(f"reading {path}: {error}") from error
    raise Unavailable(f"another process keeps {path} to itself and does not write its notes down")


def _noted(path: str) -> dict[Partition, int]:
    """How far each partition has come by what is noted. What was cleared meanwhile is written."""
    if not os.path.exists(path):
        return {}
    notes = Notes(path)
    try:
        return {note.partition: note.extent.end for note in notes.read()}
    finally:
        notes.close()
