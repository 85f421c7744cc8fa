"""Waking clients of functions from a process that serves the same stores.

A client that reached the cluster through API Gateway waits in no process: its connection is a
watcher of a partition or of a group. The function that accepted the connection has entered where it
can be pushed to (`open_connections.py`). Pushes run beside the requests that cause them.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable

from samsa.aws.connections import ConnectionsApi
from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.open_connections import OpenConnections
from samsa.aws.pushing import Pushes
from samsa.ports import Appended, Awaited

log = logging.getLogger("samsa.wakeups")
REMEMBERED = 10_000
"""Connections, with the URL that they are pushed to."""
MOST_APIS = 16
"""API Gateways in front of one ledger. What lies behind further ones is not woken."""


class FunctionClients:
    def __init__(self, ledger: DynamoLedger) -> None:
        self.pushes = Pushes(ledger)
        self._open = OpenConnections(ledger.table)
        self._urls: OrderedDict[str, str] = OrderedDict()
        self._apis: dict[str, ConnectionsApi] = {}
        self._sending: asyncio.Task[None] | None = None

    def wake(
        self, awaited: Awaited, watchers: Iterable[str], appended: Appended | None = None
    ) -> None:
        self.pushes.add(awaited, watchers, appended)
        if self.pushes.pending and self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        """What comes while some are being pushed is pushed together afterwards."""
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
            self._urls[connection_id] = url
            if len(self._urls) > REMEMBERED:
                self._urls.popitem(last=False)
        if url and url not in self._apis and len(self._apis) < MOST_APIS:
            self._apis[url] = ConnectionsApi(url)
        return self._apis.get(url)

    async def close(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])
        for api in self._apis.values():
            await api.close()
