"""The server of a test's cluster: as that of `samsa up`, but with faults, and with its port kept
while it is stopped."""

import asyncio
import socket
from dataclasses import dataclass, field

from samsa.broker.broker import Broker
from samsa.client_requests import ClientRequests
from samsa.runtime.scheduling import start_upkeep
from samsa.runtime.sliced_executor import SlicedExecutor
from samsa_broker.server.listener import Server, ServerLimits
from samsa_broker.server.listeners import Listener
from samsa_broker.server.quota_changes import QuotaChanges

from .cluster_settings import HOST
from .faults import FaultRules, FaultyRequests

LIMITS = ServerLimits(shutdown_grace_s=2.0)
UPKEEP_S = 300.0
"""Between two rounds over all topics; those whose configs ask for it get theirs sooner."""


@dataclass(slots=True)
class FaultyServer(Server):
    rules: FaultRules = field(default_factory=FaultRules)

    def requests_of(self, sock: socket.socket, peer: str, listener: Listener) -> ClientRequests:
        host = "/" + peer.rpartition(":")[0]
        return FaultyRequests(self.rules, self.broker, self.advertised(sock, listener), host)


class RunningServer:
    """A server that listens, and the tasks beside it."""

    def __init__(self, broker: Broker, rules: FaultRules, port: int) -> None:
        """Raises OSError."""
        self._broker = broker
        self._server = FaultyServer(broker, LIMITS, rules=rules)
        _, self.port = self._server.listen(HOST, port)
        self._tasks = start_upkeep(broker, UPKEEP_S)

    async def start(self) -> None:
        """Read the quotas that clients have set, and those that they will set."""
        view = self._broker.stored_access
        await view.refresh()
        QuotaChanges(self._server, view)
        self._tasks.append(asyncio.create_task(view.keep_fresh()))

    async def stop(self, at_once: bool) -> None:
        """`at_once`: without answers to what is under way."""
        for task in self._tasks:
            task.cancel()
        if at_once:
            for connection in list(self._server.connections):
                connection.abort()
        await self._server.close()
        await asyncio.wait(self._tasks)
        self._close_threads()

    def _close_threads(self) -> None:
        """A process that serves one broker has no need to: its threads end with it."""
        self._broker.work.close()
        run = self._broker.log.compactor.run
        if isinstance(run, SlicedExecutor):
            run.close()


def keep_port(port: int) -> socket.socket:
    """No other process gets the port while this socket has it, and a connection is refused. Closed
    by the caller, after the server listens again: both may have the port, as only one listens."""
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind((HOST, port))
    return kept
