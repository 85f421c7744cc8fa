"""Opens the ledger, the objects, the journal and the groups that URLs name.

sqlite:///path/to/ledger.db                    file:///path/to/objects
dynamodb://table?region=…&endpoint=…           s3://bucket/prefix?region=…&endpoint=…
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from urllib.parse import SplitResult, parse_qs, urlsplit

from samsa.local.folder import FolderObjects
from samsa.local.health import FULL, kind_of, reserve_of
from samsa.local.journal import SqliteJournal
from samsa.local.memory import MemoryObjects
from samsa.local.object_journal import ObjectJournal
from samsa.local.read_only_ledger import Onlooker, look_on
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.log.cache import TailCache
from samsa.ports import Groups, Journal, Ledger, Objects
from samsa.runtime.system import SystemClock


class BadUrl(Exception):
    """Its message says what is wrong with a URL, and shows a correct one."""


async def open_ledger(url: str, fsync: bool) -> Ledger:
    parts, query = parse(url, "region", "endpoint")
    if parts.scheme == "sqlite":
        path = _path(parts, "sqlite:///path/to/ledger.db")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # In a thread: a process that is alone with the ledger may take a while to share it.
        return await asyncio.to_thread(_open_sqlite, path, fsync)
    if parts.scheme == "dynamodb":
        if not parts.netloc:
            raise BadUrl(f"{url!r} names no table; try dynamodb://samsa?region=eu-central-1")
        from samsa.aws.dynamodb import DynamoLedger

        ledger = DynamoLedger(parts.netloc, query.get("endpoint"), query.get("region"))
        if "endpoint" in query:
            # A local DynamoDB starts empty; in an AWS account a deployment creates the table.
            await ledger.create_table()
        return ledger
    raise BadUrl(f"{url!r} is no ledger; there are sqlite:///… and dynamodb://…")


def _open_sqlite(path: str, fsync: bool) -> SqliteLedger:
    try:
        return SqliteLedger(path, fsync)
    except sqlite3.Error as error:
        reserve = reserve_of(path)
        if kind_of(error) != FULL or not os.path.exists(reserve):
            raise
        os.unlink(reserve)  # kept for this: now notes can be settled, and room freed
        return SqliteLedger(path, fsync)


async def open_ledger_to_read(url: str) -> Ledger:
    """A ledger for reads only, which does not slow down a broker on the same machine."""
    parts, _ = parse(url, "region", "endpoint")
    if parts.scheme == "sqlite":
        return await look_on(_path(parts, "sqlite:///path/to/ledger.db"))
    return await open_ledger(url, fsync=False)


def open_groups(url: str, ledger: Ledger, fsync: bool) -> Groups:
    """The groups in the same store as `ledger`, which is open already."""
    if isinstance(ledger, SqliteLedger):
        groups = SqliteGroups(urlsplit(url).path, fsync, lambda: ledger.noted.alone)
        groups.health = ledger.health
        return groups
    from samsa.aws.dynamodb import DynamoLedger
    from samsa.aws.dynamodb_groups import DynamoGroups

    assert isinstance(ledger, DynamoLedger)
    return DynamoGroups(ledger.table)


def open_objects(url: str, fsync: bool, cache_bytes: int) -> Objects:
    parts, query = parse(url, "region", "endpoint")
    if parts.scheme == "file":
        return FolderObjects(_path(parts, "file:///path/to/objects"), fsync)
    if parts.scheme == "memory":
        return MemoryObjects()
    if parts.scheme == "s3":
        if not parts.netloc:
            raise BadUrl(f"{url!r} names no bucket; try s3://bucket/prefix?region=eu-central-1")
        from samsa.aws.s3 import S3Objects

        far = S3Objects(
            parts.netloc, parts.path.strip("/"), query.get("endpoint"), query.get("region")
        )
        return TailCache(far, cache_bytes)
    raise BadUrl(f"{url!r} is no object store; there are file:///… and s3://…")


def open_journal(
    ledger: Ledger,
    objects: Objects,
    nonce: Callable[[], str],
    fsync: bool,
    has_window: bool = False,
) -> Journal:
    """`nonce` returns a unique word. It is not needed for reads."""
    if not isinstance(ledger, SqliteLedger):
        return _open_head_journal(ledger, objects, nonce, has_window)
    if isinstance(objects, FolderObjects) and not isinstance(ledger, Onlooker):
        if os.stat(objects.root).st_dev == os.stat(ledger.health.folder).st_dev:
            objects.health = ledger.health
        journal = SqliteJournal(ledger, objects.root, nonce(), fsync, objects.health)
        journal.stay_alone()
        objects.before_delete = ledger.persist
        return journal
    return ObjectJournal(ledger, objects, nonce)


def _open_head_journal(
    ledger: Ledger, objects: Objects, nonce: Callable[[], str], has_window: bool
) -> Journal:
    from samsa.aws.dynamodb import DynamoLedger
    from samsa.aws.journal import HeadJournal

    assert isinstance(ledger, DynamoLedger)
    return HeadJournal(ledger, objects, nonce, SystemClock(), has_window)


def parse(url: str, *known: str) -> tuple[SplitResult, dict[str, str]]:
    parts = urlsplit(url)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    unknown = sorted(set(query) - set(known))
    if unknown:
        raise BadUrl(f"{url!r}: there is no option {unknown[0]!r}; there are {', '.join(known)}")
    return parts, query


def _path(parts: SplitResult, example: str) -> str:
    if parts.netloc or not parts.path.startswith("/") or parts.path == "/":
        raise BadUrl(f"a local path is absolute and has three slashes: {example}")
    return parts.path
