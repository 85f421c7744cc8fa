"""Requests of admins without a broker: their handlers, on the stores.

For the first user of a closed cluster, and when no broker runs. A running one is not disturbed, and
takes over what was changed within two seconds.
"""

import argparse
import asyncio
import secrets
import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, Protocol

from samsa.ports import Unavailable
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError

from .client import Client, ClientError
from .options import add_bootstrap
from .private_files import private_files

NO_OBJECTS = "memory:///"
NOWHERE = ("", 0)


class Asks(Protocol):
    """A client of a broker, or of its stores."""

    def ask(self, key: ApiKey, row: Any) -> Any: ...


def add_where(parser: argparse.ArgumentParser) -> None:
    add_bootstrap(parser)
    parser.add_argument(
        "--ledger", metavar="URL",
        help="work on this ledger, without a broker: sqlite:///… or dynamodb://…",
    )  # fmt: skip


def asks(given: argparse.Namespace) -> Asks:
    """Raises ClientError."""
    return OnStores(given.ledger) if given.ledger else Client.of(given)


class OnStores:
    def __init__(self, ledger: str) -> None:
        self._ledger = ledger

    def ask(self, key: ApiKey, row: Any) -> Any:
        """Raises ClientError."""
        from samsa.runtime.store_address import BadUrl

        try:
            with private_files() if self._is_new() else nullcontext():
                return asyncio.run(self._ask(key, row))
        except (BadUrl, Unavailable, OSError, sqlite3.Error, DecodeError) as error:
            raise ClientError(f"{self._ledger}: {error}") from error

    def _is_new(self) -> bool:
        """Whether the file of the ledger is about to be made. Raises BadUrl."""
        from samsa.runtime.store_address import local_path, read_store_url
        from samsa.runtime.store_urls import LEDGER_FILE

        url = read_store_url(self._ledger)
        return url.scheme == "sqlite" and not Path(local_path(url, LEDGER_FILE)).exists()

    async def _ask(self, key: ApiKey, row: Any) -> Any:
        from samsa.access.logins import store_secret
        from samsa.access.rules import SecurityRules
        from samsa.access.view import SecurityView
        from samsa.broker.broker import HANDLERS, Broker, Context
        from samsa.local.wakeups import LocalWakeups
        from samsa.log.stores import Limits
        from samsa.runtime.opening import opened

        with closing(LocalWakeups()) as wakeups:
            async with opened(self._ledger, NO_OBJECTS, wakeups, Limits()) as found:
                stores = found.stores
                view = SecurityView(
                    found.groups, stores.clock, stores.nonce, SecurityRules(has_acls=True)
                )
                if key == ApiKey.ALTER_USER_SCRAM_CREDENTIALS:
                    await store_secret(view, secrets.token_bytes(32))
                broker = Broker(stores, "", groups=found.groups, access=view)
                context = Context(APIS[key].versions[-1], "samsa-cli", NOWHERE)
                return await HANDLERS[key](row, context, broker)
