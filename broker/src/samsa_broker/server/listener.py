"""The TCP listeners: accept, count and end connections."""

import asyncio
import logging
import socket
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from samsa.broker.broker import Broker
from samsa.broker.nodes import FurtherListener
from samsa.client_requests import ClientRequests
from samsa.runtime.logs import Repeated, event
from samsa.security.quotas import CONNECTION_CREATION_RATE

from .accepting import Acceptor
from .announcing import Announcer
from .audited_requests import AuditedRequests
from .connection import Connection
from .delays import Delays
from .handshakes import Handshakes
from .idle_poller import IdlePoller
from .listeners import PLAIN, Kind, Listener
from .memory import MemoryClaim, RequestMemory
from .muted import MutedConnections
from .newcomers import Newcomer, Newcomers
from .sasl_connection import SaslConnection
from .security import Security
from .stats import ServerStats

log = logging.getLogger("samsa.server")
BACKLOG = 512
BAD_REQUEST = "bad request"
TOO_MANY = "too many connections"
TOO_MANY_OF_ONE = "too many connections of one address"
MADE_WAY = "connection without a login"
TOO_FAST = "new connections of one address over its quota"
MOST_DELAYED = 256
"""Connections over a quota that wait to be closed. Above, they are closed at once."""
IDLE_CHECK_S = 15.0
CONTENDED_CHECK_S = 1.0
IPV4_AS_IPV6 = "::ffff:"


@dataclass(frozen=True, slots=True)
class ServerLimits:
    max_connections: int = 2_000
    max_connections_per_address: int = 1_500
    max_frame_bytes: int = 100 * 1024 * 1024
    max_request_memory: int = 256 * 1024 * 1024
    idle_timeout_s: float = 600.0
    min_request_rate: int = 1_000
    slow_grace_s: float = 30.0
    shutdown_grace_s: float = 20.0


@dataclass(slots=True)
class Server:
    broker: Broker
    limits: ServerLimits = field(default_factory=ServerLimits)
    advertise: tuple[str, int] | None = None
    announcer: Announcer | None = None
    first: tuple[Kind, int] | None = None
    """The listener that this process announces to others, and the port that it announces."""
    stats: ServerStats = field(default_factory=ServerStats)
    closing: bool = False
    memory: RequestMemory = field(init=False)
    connections: set[Connection] = field(default_factory=set)
    idle_poller: IdlePoller = field(default_factory=IdlePoller)
    security: Security | None = None
    handshakes: Handshakes = field(default_factory=Handshakes)
    muted: MutedConnections = field(default_factory=MutedConnections)
    bad_requests: Repeated = field(
        default_factory=lambda: Repeated(log, logging.WARNING, BAD_REQUEST)
    )
    newcomers: Newcomers[object] = field(default_factory=Newcomers)
    _too_fast: Delays[socket.socket] = field(default_factory=lambda: Delays(socket.socket.close))
    _acceptors: list[Acceptor] = field(default_factory=list)
    _per_host: Counter[str] = field(default_factory=Counter)
    _refusals: dict[str, Repeated] = field(init=False)
    _made_way: Repeated = field(
        default_factory=lambda: Repeated(log, logging.WARNING, f"{MADE_WAY} closed")
    )
    names: list[str] = field(default_factory=list)
    """Of the listeners."""
    _tasks: "list[asyncio.Task[None]]" = field(default_factory=list)

    def __post_init__(self) -> None:
        self._refusals = {
            why: Repeated(log, logging.WARNING, why)
            for why in (TOO_MANY, TOO_MANY_OF_ONE, TOO_FAST)
        }
        self.memory = RequestMemory(self.limits.max_request_memory, self.limits.max_frame_bytes)

    def listen(self, host: str, port: int, listener: Listener = PLAIN) -> tuple[str, int]:
        """May be called for several listeners. Raises OSError: the port is taken, the host is not
        ours."""
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
        loop = asyncio.get_running_loop()
        if not self._acceptors:
            self._tasks.append(loop.create_task(self._end_the_idle()))
        if listener.tls is not None:
            self._tasks.append(loop.create_task(listener.tls.watch()))
        self._acceptors.append(Acceptor(sock, partial(self._welcome, listener)))
        self.names.append(listener.name)
        name = sock.getsockname()
        if self.first is None:
            self.first = listener.kind, (listener.advertise or self.advertise or name)[1]
        return str(name[0]), int(name[1])

    def advertised(self, sock: socket.socket, listener: Listener = PLAIN) -> tuple[str, int]:
        """The address that a client is given: the configured one, or the one that it used."""
        host, port = listener.advertise or self.advertise or _name_of(sock)
        if self.first is None or listener.kind is self.first[0]:
            return host, port
        return FurtherListener(host, port, port - self.first[1])

    def requests_of(self, sock: socket.socket, peer: str, listener: Listener) -> ClientRequests:
        """Those of a new connection. Raises UnknownClient."""
        address = self.advertised(sock, listener)
        if self.security is None:
            return ClientRequests(self.broker, address, "/" + peer.rpartition(":")[0])
        access = self.security.access_of(sock, peer, listener)
        return AuditedRequests(self.broker, address, peer, access, self.security.audit)

    def _welcome(self, listener: Listener, sock: socket.socket, address: tuple[str, int]) -> None:
        host = _as_ipv4(address[0])
        peer = f"{host}:{address[1]}"
        why = self._why_not(host)
        if why and listener.kind is Kind.PLAINTEXT:
            self._refuse(sock, peer, why)
            return
        throttling = self.broker.throttling
        if throttling is not None and (wait_ms := throttling.connect(host)):
            self._close_later(sock, peer, wait_ms)
            return
        if why and not self._make_room(why, host):
            self._refuse(sock, peer, why)
            return
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except OSError:
            sock.close()  # the client has gone
            return
        self._per_host[host] += 1
        if listener.tls is None:
            self._connect(listener, peer, sock)
        else:
            connect = partial(self._connect, listener, peer)
            task = self.handshakes.begin(sock, listener.tls.current, peer, connect)
            self.newcomers.add_handshake(task, host)

    def _refuse(self, sock: socket.socket, peer: str, why: str) -> None:
        self.stats.refused += 1
        self._refusals[why].happened(peer=peer)
        sock.close()

    def _make_room(self, why: str, host: str) -> bool:
        """Where clients shake hands or log in, one that has not done so yet ends for another."""
        if not self.newcomers.end_one(host if why == TOO_MANY_OF_ONE else None):
            return False
        self.stats.let_go[MADE_WAY] += 1
        self._made_way.happened(why=why)
        return True

    def _close_later(self, sock: socket.socket, peer: str, wait_ms: int) -> None:
        """As Kafka: a client that connects again at once is slower by the time that it waits."""
        self.stats.refused += 1
        self.stats.throttled[CONNECTION_CREATION_RATE] += 1
        self.stats.throttled_ms[CONNECTION_CREATION_RATE] += wait_ms
        self._refusals[TOO_FAST].happened(peer=peer)
        if len(self._too_fast) < MOST_DELAYED:
            self._too_fast.add(sock, wait_ms / 1000)
        else:
            sock.close()

    def _connect(self, listener: Listener, peer: str, sock: socket.socket | None) -> None:
        """`sock` is None if the TLS handshake has failed."""
        if sock is None or self.closing:
            if sock is not None:
                sock.close()
            self._left(peer.rpartition(":")[0])
            return
        try:
            kind = SaslConnection if listener.kind.has_sasl else Connection
            connection = kind(sock, peer, self, listener)
        except OSError:
            sock.close()  # the client has gone, or has no principal
            self._left(peer.rpartition(":")[0])
            return
        self.connections.add(connection)
        self.stats.accepted += 1
        connection.start()
        if listener.kind.has_sasl:
            newcomer = Newcomer(connection.host, connection.has_logged_in, connection.abort)
            self.newcomers.add(connection, newcomer)

    def _why_not(self, host: str) -> str | None:
        if len(self.connections) + len(self.handshakes) >= self.limits.max_connections:
            return TOO_MANY
        if self._per_host[host] >= self.limits.max_connections_per_address:
            return TOO_MANY_OF_ONE
        return None

    def make_way(self, claim: MemoryClaim, wanted: int) -> None:
        """Before a connection waits for memory, idle connections give theirs back."""
        if self.memory.contended or not self.memory.has_room(claim, wanted):
            for connection in self.connections:
                connection.give_back()

    def gone(self, connection: Connection) -> None:
        self.connections.discard(connection)
        self.newcomers.drop(connection, connection.host)
        self._left(connection.host)

    def _left(self, host: str) -> None:
        self._per_host[host] -= 1
        if not self._per_host[host]:
            del self._per_host[host]
        for acceptor in self._acceptors:
            acceptor.go_on()

    async def _end_the_idle(self) -> None:
        """Close idle and slow connections. Check more often while requests wait for memory."""
        loop = asyncio.get_running_loop()
        limits = self.limits
        every = min(IDLE_CHECK_S, limits.idle_timeout_s / 2, limits.slow_grace_s / 2)
        looked_at = loop.time()
        while True:
            await asyncio.sleep(min(every, CONTENDED_CHECK_S))
            now = loop.time()
            if not self.contended and now - looked_at < every:
                continue
            for connection in list(self.connections):
                self._look_at(connection, now, looked_at)
            looked_at = now

    @property
    def contended(self) -> bool:
        """Whether a request waits for memory that others hold."""
        return self.memory.contended or self.broker.answer_memory.contended

    def _look_at(self, connection: Connection, now: float, before: float) -> None:
        connection.look()
        quiet = now - connection.last_active
        if quiet > self.limits.idle_timeout_s and not connection.busy:
            self._let_go(connection, "idle connection", logging.INFO)
        elif why := connection.why_let_go(self.contended):
            self._let_go(connection, why, logging.WARNING)
        elif connection.last_active <= before:
            connection.give_back()

    def _let_go(self, connection: Connection, why: str, level: int) -> None:
        self.stats.let_go[why] += 1
        event(log, level, f"{why} closed", peer=connection.peer)
        connection.abort()

    async def close(self) -> None:
        """Stop accepting, answer what is under way, and close all connections."""
        self.closing = True
        for acceptor in self._acceptors:
            acceptor.close()
        self._acceptors.clear()
        for task in self._tasks:
            task.cancel()
        await self.handshakes.close()
        self._too_fast.end_all()
        self._too_fast.stop()
        for connection in list(self.connections):
            connection.take_no_more()
        left = [connection.ended for connection in self.connections]
        if left:
            await asyncio.wait(left, timeout=self.limits.shutdown_grace_s)
        self.idle_poller.stop()
        self.muted.stop()
        with suppress(TimeoutError):  # any process may finish them
            async with asyncio.timeout(self.limits.shutdown_grace_s):
                await self.broker.finish_transactions()
        await asyncio.wait_for(self.broker.log.drain(), self.limits.shutdown_grace_s)


def _name_of(sock: socket.socket) -> tuple[str, int]:
    name = sock.getsockname()
    return _as_ipv4(str(name[0])), int(name[1])


def _as_ipv4(host: str) -> str:
    """On `--host ::`, IPv4 addresses appear as IPv4-mapped IPv6 addresses. A client without IPv6
    could not connect to such an address."""
    return host.removeprefix(IPV4_AS_IPV6) if "." in host else host
