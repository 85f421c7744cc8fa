"""Checkpoints of a SQLite ledger, in a thread of their own.

By default, the commit that finds the write-ahead log long copies it into the database, and waits
for the disk twice. In the event loop, all requests would wait for that. Here a second connection
does it. A checkpoint skips what is in use (PASSIVE). Only if the log has grown very long does it
wait for others (RESTART).
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
                    # The database is locked or the disk is full: the next round tries again.
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
