"""Wakes clients of functions from a process that serves the same stores.

A client that is connected through API Gateway does not wait in a process: its connection is a
watcher of a partition or of a group. The function that accepted the connection has stored the URL
to push to (`open_connections.py`). Pushes run beside the requests that cause them.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from samsa.aws.dynamodb import DynamoLedger
from samsa.bounded import Bounded
from samsa.local.wakeups import LocalWakeups
from samsa.ports import Appended, Awaited, Ledger
from samsa_websocket.pushes.connections import ConnectionsApi
from samsa_websocket.pushes.open_connections import OpenConnections
from samsa_websocket.pushes.pushing import Pushes

log = logging.getLogger("samsa.wakeups")
REMEMBERED = 10_000
"""Connections, with the URL that they are pushed to."""
MOST_APIS = 16
"""API Gateways in front of one ledger. Clients behind further ones are not woken."""


@asynccontextmanager
async def function_clients(
    ledger: Ledger, wakeups: LocalWakeups
) -> "AsyncIterator[FunctionClients | None]":
    """Also wake clients behind API Gateway, if functions may use the ledger (DynamoDB)."""
    if not isinstance(ledger, DynamoLedger):
        yield None
        return
    clients = FunctionClients(ledger)
    wakeups.wake_elsewhere = clients.wake
    try:
        yield clients
    finally:
        await clients.close()


class FunctionClients:
    def __init__(self, ledger: DynamoLedger) -> None:
        self.pushes = Pushes(ledger)
        self._open = OpenConnections(ledger.table)
        self._urls = Bounded[str, str](REMEMBERED)
        self._apis: dict[str, ConnectionsApi] = {}
        self._sending: asyncio.Task[None] | None = None

    def wake(
        self, awaited: Awaited, watchers: Iterable[str], appended: Appended | None = None
    ) -> None:
        self.pushes.add(awaited, watchers, appended)
        if self.pushes.pending and self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        """Wake-ups that come while others are being pushed are pushed together afterwards."""
        try:
            while self.pushes.pending:
                await self.pushes.send(self._find)
        except Exception:
            log.exception("wake-ups were lost")
        finally:
            self._sending = None

    async def _find(self, connection_id: str) -> ConnectionsApi | None:
        url = self._urls.get(connection_id)
        if url is None:
            found = await self._open.look_up(connection_id)
            url = found.pushed_at if found else ""
            self._urls.keep(connection_id, url)
        if url and url not in self._apis and len(self._apis) < MOST_APIS:
            self._apis[url] = ConnectionsApi(url)
        return self._apis.get(url)

    async def close(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])
        for api in self._apis.values():
            await api.close()
