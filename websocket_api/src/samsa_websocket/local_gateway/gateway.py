"""The gateway: connections in, invocations out, answers back.

The handshake waits for $connect, which may refuse it. Every message starts an invocation of its own
at once, and does not wait for others of its connection. The answer's body is sent back as the route
response; without a body nothing is sent. If a function fails, its message gets an error, and the
connection stays open.
"""

import asyncio
import json
import logging
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from starlette.responses import JSONResponse
from starlette.websockets import WebSocket

from samsa.runtime.logs import event as log_event

from . import events
from .authoriser import Authoriser, SignatureRefused
from .chaos import Chaos
from .connection import ClientGone, ClientSocket, TooMuch
from .events import ApiAddress, Party
from .identifiers import identifier
from .integration import Integration, IntegrationFailed
from .limits import ApiGatewayLimits
from .observer import Observer
from .stats import GatewayStats
from .throttle import ThrottleBucket

log = logging.getLogger("samsa.local_api")

THROTTLED = "Too Many Requests"
LEAVING_S = 2.0
Ending = tuple[int, str]


class LocalGateway:
    def __init__(
        self,
        api: ApiAddress,
        integration: Integration,
        authoriser: Authoriser,
        limits: ApiGatewayLimits,
        chaos: Chaos,
        stats: GatewayStats,
        observer: Observer,
    ) -> None:
        self.observer = observer
        self.api = api
        self.limits = limits
        self.chaos = chaos
        self.stats = stats
        self.authoriser = authoriser
        self.connections: dict[str, ClientSocket] = {}
        self.requests = ThrottleBucket(limits.requests_per_s, limits.request_burst)
        self._arrivals = ThrottleBucket(limits.connections_per_s, limits.connection_burst)
        self._integration = integration
        self._tasks: set[asyncio.Task[None]] = set()
        self._all_left = asyncio.Event()

    async def meet(self, socket: WebSocket) -> None:
        """One WebSocket, from handshake to end."""
        try:
            party = await self._admit(socket)
        except IntegrationFailed as failed:
            self.stats.refused += 1
            await socket.send_denial_response(JSONResponse({"message": str(failed)}, failed.status))
            return
        await socket.accept()
        connection = ClientSocket(socket, party, self.limits, self.stats, time.monotonic())
        self.connections[party.connection_id] = connection
        self._all_left.clear()
        ending = 1006, ""
        try:
            ending = await self._listen(socket, connection)
        finally:
            del self.connections[party.connection_id]
            if not self.connections:
                self._all_left.set()
            self.stats.connection_s += time.monotonic() - connection.born
            self._soon(self._say_goodbye(connection, ending))

    async def _admit(self, socket: WebSocket) -> Party:
        now = time.time()
        if not (self._arrivals.take(now) and self.requests.take(now)):
            self.stats.throttled += 1
            raise IntegrationFailed(429, THROTTLED)
        self.stats.connections += 1
        headers = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in socket.headers.raw
        ]
        party = Party(
            identifier(),
            int(now * 1000),
            socket.client.host if socket.client else "",
            socket.headers.get("user-agent"),
            self._caller(socket, headers, now),
        )
        asked = events.connect(self.api, party, identifier(), _now_ms(), headers, socket.url.query)
        answer = await self._integration.ask(asked)
        if not 200 <= answer["statusCode"] < 300:
            raise IntegrationFailed(answer["statusCode"], str(answer.get("body") or "Forbidden"))
        return party

    def _caller(
        self, socket: WebSocket, headers: list[tuple[str, str]], now: float
    ) -> dict[str, str]:
        path = socket.scope["raw_path"].decode("ascii")
        try:
            return self.authoriser.caller("GET", path, socket.url.query, headers, b"", now)
        except SignatureRefused as refused:
            raise IntegrationFailed(403, str(refused)) from refused

    async def _listen(self, socket: WebSocket, connection: ClientSocket) -> Ending:
        ends = time.monotonic() + self.limits.life_s
        while True:
            try:
                async with asyncio.timeout(connection.patience(ends, time.monotonic())):
                    heard = await socket.receive()
            except TimeoutError:
                # An answer or a push in the meantime counts as activity, too.
                if connection.patience(ends, time.monotonic()) <= 0:
                    return await connection.close(1001, "Going away")
                continue
            if heard["type"] == "websocket.disconnect":
                said = heard.get("code", 1005), heard.get("reason") or ""
                return connection.closed_with or said
            connection.last_active = time.monotonic()
            if heard.get("text") is None:
                return await connection.close(1003, "Binary is not supported")
            self._take(connection, heard["text"])

    def _take(self, connection: ClientSocket, text: str) -> None:
        self.stats.received(len(text))
        self.observer.message_in(text)
        if not self.requests.take(time.time()):
            self.stats.throttled += 1
            self._soon(self._apologise(connection, THROTTLED, identifier()))
            return
        self._soon(self._deliver(connection, text))
        if self.chaos.drops():
            asyncio.get_running_loop().call_later(self.chaos.moment(), connection.abort)

    async def _deliver(self, connection: ClientSocket, text: str) -> None:
        request_id = identifier()
        asked = events.message(self.api, connection.party, request_id, _now_ms(), text)
        try:
            answer = await self._integration.ask(asked)
        except IntegrationFailed as failed:
            await self._apologise(connection, str(failed), request_id)
            return
        body = answer.get("body")
        if body is None or body == "":
            return
        if not isinstance(body, str) or len(body.encode()) > self.limits.message_bytes:
            await self._apologise(connection, "Internal server error", request_id)
            return
        await self._send(connection, body)

    async def _apologise(self, connection: ClientSocket, why: str, request_id: str) -> None:
        said = {
            "message": why,
            "connectionId": connection.party.connection_id,
            "requestId": request_id,
        }
        await self._send(connection, json.dumps(said))

    async def _send(self, connection: ClientSocket, text: str) -> None:
        try:
            await connection.send(text, time.monotonic())
            self.observer.message_out(text)
        except (ClientGone, TooMuch) as error:
            log_event(log, logging.DEBUG, "answer lost", why=type(error).__name__)

    async def _say_goodbye(self, connection: ClientSocket, ending: Ending) -> None:
        """Send $disconnect once, best effort: it is not repeated if the function fails."""
        now = _now_ms()
        asked = events.disconnect(self.api, connection.party, identifier(), now, *ending)
        try:
            await self._integration.ask(asked)
        except IntegrationFailed as failed:
            log_event(log, logging.WARNING, "$disconnect failed", why=failed)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close_all(self) -> None:
        """Close all connections, and wait for up to two seconds until they are."""
        for connection in list(self.connections.values()):
            self._soon(self._dismiss(connection))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._all_left.wait(), LEAVING_S if self.connections else 0)

    async def _dismiss(self, connection: ClientSocket) -> None:
        await connection.close(1001, "Going away")

    async def drain(self) -> None:
        """Wait up to two seconds for invocations and answers that are under way."""
        if self._tasks:
            _, late = await asyncio.wait(set(self._tasks), timeout=2)
            for task in late:
                task.cancel()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
