"""Upgrades a ledger of an older format, in place, in one transaction.

Format 2 added transactions: the first offset of a producer's open transaction, and the aborted
transactions.

Processes of the older version cannot write to the upgraded ledger. So it is upgraded only by a
process that is the only one that has it open.
"""

import sqlite3
from contextlib import closing
from urllib.parse import quote

from samsa.local.database import SqlTransaction
from samsa.local.schema import ABORTED, FORMAT, OPEN_TRANSACTIONS, format_of
from samsa.ports import Misconfigured

TO_FORMAT_2 = ("ALTER TABLE producers ADD COLUMN opened INTEGER", OPEN_TRANSACTIONS, ABORTED)


def upgrade(db: sqlite3.Connection, path: str, is_only: bool) -> None:
    """`is_only`: no other process has the ledger open, nor can open it now. Raises Misconfigured if
    an upgrade is needed and another process has it open; sqlite3.Error: then nothing is changed."""
    if format_of(db, path) == FORMAT:
        return
    if not is_only:
        raise Misconfigured(
            f"{path} was made by an older version of Samsa, and another process has it open: end "
            "that process, and this one can upgrade the ledger"
        )
    with SqlTransaction(db) as execute:
        for statement in TO_FORMAT_2:
            execute(statement)
        execute(f"PRAGMA user_version={FORMAT}")


def needs_upgrade(path: str) -> bool:
    """Whether there is a ledger of an older format in the file. Raises Misconfigured if that format
    cannot be upgraded."""
    with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as db:
        return 0 < format_of(db, path) < FORMAT
