"""Gives TLS to a server that is written for asyncio's protocols, such as that of the HTTP API.

Handshakes are made in a thread. They have a limit, at which one ends for the next (`newcomers.py`).
"""

import asyncio
import socket
import ssl
from collections.abc import Callable

from samsa.runtime.tls_context import TlsContext

from .accepting import Acceptor
from .handshakes import Handshakes
from .newcomers import Newcomers
from .tls_transport import TlsTransport

MOST_HANDSHAKES = 100
MakeProtocol = Callable[[], asyncio.Protocol]


class TlsServer:
    def __init__(
        self,
        listening: socket.socket,
        make: MakeProtocol,
        tls: TlsContext,
        handshakes: Handshakes,
    ) -> None:
        self._make = make
        self._tls = tls
        self._handshakes = handshakes
        self._under_way = Newcomers[asyncio.Task[None]]()
        self._is_closed = False
        self._acceptor = Acceptor(listening, self._welcome)

    def _welcome(self, sock: socket.socket, address: tuple[str, int]) -> None:
        if len(self._under_way) >= MOST_HANDSHAKES:
            self._under_way.end_one()
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            sock.close()  # the client has gone
            return
        peer = f"{address[0]}:{address[1]}"
        task = self._handshakes.begin(sock, self._tls.current, peer, self._connect)
        self._under_way.add_handshake(task, address[0])
        # A task that is cancelled before it has begun closes nothing. After a handshake the
        # connection has a socket of its own.
        task.add_done_callback(lambda _: sock.close())

    def _connect(self, sock: ssl.SSLSocket | None) -> None:
        if sock is None:
            return
        if self._is_closed:
            sock.close()
            return
        try:
            TlsTransport(sock, self._make())
        except OSError:
            sock.close()  # the client has gone

    def close(self) -> None:
        """Connections that there are go on."""
        if not self._is_closed:
            self._is_closed = True
            self._acceptor.close()
            for task in self._under_way:
                task.cancel()

    async def wait_closed(self) -> None:
        if self._under_way:
            await asyncio.wait(list(self._under_way))
