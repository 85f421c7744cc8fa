"""The log, opened by somebody who only reads it."""

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from samsa.local.wakeups import LocalWakeups
from samsa.log.core import Log
from samsa.log.stores import Stores
from samsa.ports import Ledger, Unavailable
from samsa.server.urls import BadUrl, open_ledger_to_read, open_objects

from .errors import BadOption, SamsaError


class _Clock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000  # noqa: TID251  # this is where time is handed in


def _no_nonce() -> str:
    raise AssertionError("who only reads reserves nothing")


@dataclass(frozen=True, slots=True)
class Access:
    ledger: Ledger
    log: Log


@asynccontextmanager
async def opened(ledger_url: str, objects_url: str) -> AsyncIterator[Access]:
    check_objects(objects_url)
    try:
        ledger = await open_ledger_to_read(ledger_url)
    except BadUrl as error:
        raise BadOption(f"ledger: {error}") from None
    except Unavailable as error:
        raise SamsaError(f"the ledger {ledger_url} cannot be read: {error}") from error
    try:
        objects = open_objects(objects_url, fsync=False, cache_bytes=0)
        log = Log(Stores(ledger, objects, _Clock(), LocalWakeups(), _no_nonce))
        try:
            yield Access(ledger, log)
            await log.drain()
        except Unavailable as error:
            raise SamsaError(f"the ledger {ledger_url} cannot be read: {error}") from error
        finally:
            await objects.close()
    finally:
        await ledger.close()


def check_objects(url: str) -> None:
    """Before a folder is made where somebody mistyped its name."""
    parts = urlsplit(url)
    if parts.scheme not in ("file", "s3"):
        raise BadOption(f"objects: {url!r} is no object store; there are file:///… and s3://…")
    if parts.scheme == "file" and not os.path.isdir(parts.path):
        raise SamsaError(f"there is no folder {parts.path}; `samsa up` says where its objects are")
