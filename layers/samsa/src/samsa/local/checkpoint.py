"""Checkpoints of a SQLite ledger, in a thread of their own.

SQLite moves its write-ahead log into the database when a commit finds it long, and waits for the
disk twice while it does. In the event loop that would be everybody's wait. Here a second connection
does it: it passes over what is in use, and insists only if the log has grown very long.
"""

import contextlib
import os
import sqlite3
import threading

EVERY_S = 1.0
LONG = 4 * 1024 * 1024
VERY_LONG = 64 * 1024 * 1024


class Checkpointer:
    def __init__(self, path: str) -> None:
        self._path = path
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        db = sqlite3.connect(self._path, isolation_level=None)
        try:
            while not self._stop.wait(EVERY_S):
                size = self._log_size()
                if size > LONG:
                    mode = "RESTART" if size > VERY_LONG else "PASSIVE"
                    # A locked database or a full disk: the next round tries again.
                    with contextlib.suppress(sqlite3.Error):
                        db.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
        finally:
            db.close()

    def _log_size(self) -> int:
        try:
            return os.stat(f"{self._path}-wal").st_size
        except OSError:
            return 0

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
