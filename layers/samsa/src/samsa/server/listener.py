"""The TCP listener: accepts, counts and ends connections."""

import asyncio
import logging
import socket
from dataclasses import dataclass, field

from samsa.handlers.broker import Broker
from samsa.handlers.budget import Budget

from .connection import Connection
from .logs import event
from .lull import Lull
from .stats import Stats

log = logging.getLogger("samsa.server")
BACKLOG = 512
ACCEPTS_AT_ONCE = 64
IDLE_CHECK_S = 15.0


@dataclass(frozen=True, slots=True)
class ServerLimits:
    max_connections: int = 2_000
    max_frame_bytes: int = 100 * 1024 * 1024
    max_request_memory: int = 512 * 1024 * 1024
    idle_timeout_s: float = 600.0
    shutdown_grace_s: float = 20.0


@dataclass(slots=True)
class Server:
    broker: Broker
    limits: ServerLimits = field(default_factory=ServerLimits)
    advertise: tuple[str, int] | None = None
    stats: Stats = field(default_factory=Stats)
    closing: bool = False
    budget: Budget = field(init=False)
    connections: set[Connection] = field(default_factory=set)
    lull: Lull = field(default_factory=Lull)
    _listening: socket.socket | None = None
    _idle_check: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        self.budget = Budget(max(self.limits.max_request_memory, 2 * self.limits.max_frame_bytes))

    def listen(self, host: str, port: int) -> tuple[str, int]:
        """Raises OSError: the port is taken, the host is not ours."""
        info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.socket(info[0], socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(info[4])
            sock.listen(BACKLOG)
        except OSError:
            sock.close()
            raise
        sock.setblocking(False)
        self._listening = sock
        loop = asyncio.get_running_loop()
        loop.add_reader(sock.fileno(), self._accept)
        self._idle_check = loop.create_task(self._end_the_idle())
        name = sock.getsockname()
        return str(name[0]), int(name[1])

    def advertised(self, sock: socket.socket) -> tuple[str, int]:
        """Where a client is told to come: what was configured, or the address that it used."""
        if self.advertise is not None:
            return self.advertise
        name = sock.getsockname()
        return str(name[0]), int(name[1])

    def _accept(self) -> None:
        assert self._listening is not None
        for _ in range(ACCEPTS_AT_ONCE):
            try:
                sock, peer = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                # Out of file descriptors: those who are connected go on; others wait in the queue.
                event(log, logging.ERROR, "cannot accept", why=error.strerror)
                return
            self._welcome(sock, f"{peer[0]}:{peer[1]}")

    def _welcome(self, sock: socket.socket, peer: str) -> None:
        if len(self.connections) >= self.limits.max_connections:
            self.stats.refused += 1
            event(log, logging.WARNING, "too many connections", peer=peer)
            sock.close()
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection = Connection(sock, peer, self)
        self.connections.add(connection)
        self.stats.accepted += 1
        connection.start()

    def make_way(self, wanted: int) -> None:
        """Before someone waits for memory: those who rest give back what they keep."""
        if self.budget.contended or wanted > self.budget.left:
            for connection in self.connections:
                connection.give_back()

    def gone(self, connection: Connection) -> None:
        self.connections.discard(connection)

    async def _end_the_idle(self) -> None:
        loop = asyncio.get_running_loop()
        every = min(IDLE_CHECK_S, self.limits.idle_timeout_s / 2)
        while True:
            looked_at = loop.time()
            await asyncio.sleep(every)
            now = loop.time()
            for connection in list(self.connections):
                connection.look()
                quiet = now - connection.last_active
                if quiet > self.limits.idle_timeout_s and not connection.busy:
                    event(log, logging.INFO, "idle connection closed", peer=connection.peer)
                    connection.abort()
                elif connection.last_active <= looked_at:
                    connection.give_back()
                    if self.budget.contended and connection.hoards:
                        event(log, logging.WARNING, "stalled request closed", peer=connection.peer)
                        connection.abort()

    async def close(self) -> None:
        """Accept no more, answer what is under way, and let everyone go."""
        self.closing = True
        loop = asyncio.get_running_loop()
        if self._listening is not None:
            loop.remove_reader(self._listening.fileno())
            self._listening.close()
        if self._idle_check is not None:
            self._idle_check.cancel()
        for connection in list(self.connections):
            connection.finish()
        left = [connection.ended for connection in self.connections]
        if left:
            await asyncio.wait(left, timeout=self.limits.shutdown_grace_s)
        self.lull.stop()
        await asyncio.wait_for(self.broker.log.drain(), self.limits.shutdown_grace_s)
