"""The TCP side of the shim: accepts clients, and serves each in a session of its own."""

import asyncio
import logging
import random
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samsa.runtime.logs import Repeated, event
from samsa_websocket.envelope import Greeting
from samsa_websocket.shim.backoff import delays
from samsa_websocket.shim.errors import ClientRefused, HangUp
from samsa_websocket.shim.session import Common, ShimSession
from samsa_websocket.shim.settings import ShimSettings

if TYPE_CHECKING:
    from samsa_websocket.shim.logins import Users

log = logging.getLogger("samsa.shim")
HANDSHAKE_WITHIN_S = 10.0
BACKLOG = 512
READ_AHEAD = 256 * 1024


class Shim:
    """Any number of listeners in front of one cluster."""

    def __init__(self, settings: ShimSettings, users: "Users | None" = None) -> None:
        """`users`: those who may log in; None asks no client who it is. Raises ClientRefused if the
        URL is not one of a WebSocket API."""
        self.settings = settings
        self._users = users
        self._common = Common(settings, self._delays)
        self._servers: list[asyncio.Server] = []
        self._clients: set[asyncio.Task[None]] = set()
        self._refusals = Repeated(log, logging.WARNING, "too many clients")

    def _delays(self) -> Iterator[float]:
        times = self.settings.times
        return delays(times.first_delay, times.longest_delay, random.random)

    async def try_out(self) -> None:
        """Connect once, to find problems early. Raises ClientRefused or Away."""
        opened = await self._common.gateway.open(Greeting(("127.0.0.1", 0)))
        await opened.close()

    async def listen(
        self, host: str, port: int, tls: ssl.SSLContext | None = None
    ) -> tuple[str, int]:
        """Raises OSError: the port is taken, the host is not ours."""
        within = HANDSHAKE_WITHIN_S if tls is not None else None
        server = await asyncio.start_server(
            self._accept,
            host,
            port,
            limit=READ_AHEAD,
            backlog=BACKLOG,
            ssl=tls,
            ssl_handshake_timeout=within,
        )
        self._servers.append(server)
        name = server.sockets[0].getsockname()
        return str(name[0]), int(name[1])

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        self._common.close()

    @property
    def clients(self) -> int:
        return len(self._clients)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        peer = writer.get_extra_info("peername")
        if len(self._clients) >= self.settings.limits.clients or peer is None:
            self._refusals.happened(peer=peer and peer[0])
            writer.close()
            return
        self._clients.add(task)
        try:
            await self._serve(reader, writer, f"{peer[0]}:{peer[1]}")
        finally:
            self._clients.discard(task)
            writer.close()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: str
    ) -> None:
        raw: socket.socket = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        used = writer.get_extra_info("sockname")
        address = self.settings.advertise or (str(used[0]), int(used[1]))
        greeting = Greeting(address, peer.rpartition(":")[0])
        event(log, logging.DEBUG, "client", peer=peer)
        try:
            if self._users is not None:
                # Imported where it is used: a shim without users needs no part of it.
                from samsa_websocket.shim.logins import log_in

                await log_in(reader, writer, self._users, peer)
            await ShimSession(reader, writer, greeting, self._common).serve()
        except HangUp as error:
            event(log, logging.INFO, "client let go", peer=peer, why=error)
        except ClientRefused as error:
            event(log, logging.ERROR, "refused", peer=peer, why=error)
        except (OSError, asyncio.CancelledError):
            pass  # the client has gone, or the shim ends
        except Exception:
            log.exception("client failed peer=%s", peer)
