"""Opens the log, to read it or to append to it."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.core import Log
from samsa.log.stores import Limits, Stores
from samsa.ports import Ledger, Unavailable
from samsa.runtime import opening
from samsa.runtime.store_address import BadUrl
from samsa.runtime.store_urls import open_journal, open_ledger_to_read, open_objects
from samsa.runtime.system import SystemClock

from .errors import BadOption, SamsaError


def _no_nonce() -> str:
    raise AssertionError("a reader makes no objects")


@dataclass(frozen=True, slots=True)
class StoreAccess:
    ledger: Ledger
    log: Log


T = TypeVar("T")


class OpenLog:
    """The log for repeated use. A ledger on this machine is opened anew each time, which costs
    nothing and leaves it to other processes meanwhile; a remote one stays open."""

    def __init__(self, ledger_url: str, objects_url: str) -> None:
        self._urls = ledger_url, objects_url
        self._runner: asyncio.Runner | None = None
        self._open = AsyncExitStack()
        self._access: StoreAccess | None = None

    def ask(self, question: Callable[[StoreAccess], Awaitable[T]]) -> T:
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self._ask(question))

    async def _ask(self, question: Callable[[StoreAccess], Awaitable[T]]) -> T:
        if self._urls[0].startswith("sqlite:"):
            async with opened(*self._urls) as access:
                return await question(access)
        if self._access is None:
            self._access = await self._open.enter_async_context(opened(*self._urls))
        with named_errors(self._urls[0]):
            return await question(self._access)

    def close(self) -> None:
        if self._runner is not None:
            self._runner.run(self._open.aclose())
            self._runner.close()
            self._runner = None


@asynccontextmanager
async def opened(ledger_url: str, objects_url: str) -> AsyncIterator[StoreAccess]:
    check_objects(objects_url)
    with named_errors(ledger_url):
        ledger = await open_ledger_to_read(ledger_url)
    try:
        objects = open_objects(objects_url, fsync=False, cache_bytes=0)
        journal = open_journal(ledger, objects, _no_nonce, fsync=False)
        log = Log(Stores(ledger, objects, journal, SystemClock(), LocalWakeups(), _no_nonce))
        try:
            with named_errors(ledger_url):
                yield StoreAccess(ledger, log)
                await log.drain()
        finally:
            await objects.close()
    finally:
        await ledger.close()


@asynccontextmanager
async def opened_to_write(
    ledger_url: str, objects_url: str, limits: Limits
) -> AsyncIterator[tuple[Stores, Log]]:
    """On one machine, a process that is alone with the ledger shares it from then on."""
    check_objects(objects_url)
    _check_ledger(ledger_url)
    wakeups = LocalWakeups()
    with named_errors(ledger_url):
        async with opening.opened(ledger_url, objects_url, wakeups, limits) as everything:
            # Consumers that are parked at a broker are woken.
            await wakeups.listen("127.0.0.1")
            log = Log(everything.stores)
            try:
                async with _waking(everything.stores, wakeups):
                    yield everything.stores, log
                    await log.drain()
            finally:
                wakeups.close()


@asynccontextmanager
async def _waking(stores: Stores, wakeups: LocalWakeups) -> AsyncIterator[None]:
    """Also wake consumers behind functions."""
    if isinstance(stores.ledger, SqliteLedger):
        yield
        return
    from samsa_websocket.pushes.function_clients import function_clients

    async with function_clients(stores.ledger, wakeups):
        yield


@contextmanager
def named_errors(ledger_url: str) -> Iterator[None]:
    try:
        yield
    except BadUrl as error:
        raise BadOption(f"ledger: {error}") from None
    except Unavailable as error:
        raise SamsaError(f"the log of {ledger_url} cannot be read: {error}") from error


def _check_ledger(url: str) -> None:
    """Otherwise a new ledger would be made if its name was mistyped."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite" and not os.path.isfile(parts.path):
        raise SamsaError(f"there is no ledger {parts.path}; `samsa up` says where its ledger is")


def check_objects(url: str) -> None:
    """Otherwise a new folder would be made if its name was mistyped."""
    parts = urlsplit(url)
    if parts.scheme not in ("file", "s3"):
        raise BadOption(f"objects: {url!r} is no object store; there are file:///… and s3://…")
    if parts.scheme == "file" and not os.path.isdir(parts.path):
        raise SamsaError(f"there is no folder {parts.path}; `samsa up` says where its objects are")
