"""Handles one event of API Gateway: connect, disconnect, message.

Every failure becomes one answer to the client that caused it and one line in the log. If the
function raised, the client would get an answer without a reason.

The event loop, the connections to the stores and the caches live as long as the process, which is
frozen between two events. No work of an event is left running: wake-ups that were collected are
pushed, and tidying after a commit is waited for, for `TIDYING_S`. What is not done by then may
never finish here, and is left to other processes.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from samsa.aws.credentials import domain_of, region_or
from samsa.aws.http import tls
from samsa.ports import Clock, Partition, Unavailable, UnknownPartition
from samsa.wire.errors import DecodeError
from samsa_websocket.envelope import (
    EnvelopeError,
    Error,
    ErrorAction,
    Frame,
    Message,
    Ping,
    Reference,
    Request,
    Upload,
    decode,
    encode,
    read_greeting,
)
from samsa_websocket.pushes.connections import ConnectionsApi
from samsa_websocket.pushes.open_connections import OpenConnection
from samsa_websocket.pushes.pushing import WAKING_S

from .assembly import Assembly
from .kafka import RequestServer
from .replies import Unread
from .request_scope import RequestScope
from .rights import UnknownCaller
from .settings import GatewaySettings
from .uploads import BadUpload, request_key, ticket, uploaded

log = logging.getLogger("samsa.gateway")
MOST_S = 25.0
"""The longest that one event may take: API Gateway waits for 29 s."""
LONGEST_WORDS = 1_000
"""Characters of an error's text, to the client and to the log: a client may have chosen them."""
TIDYING_S = 1.0
LAST_WORDS_S = WAKING_S + TIDYING_S + 1.0
"""Reserved for wake-ups, for tidying and for the answer when the function's time runs out."""
EXPECTED = (DecodeError, EnvelopeError, BadUpload, Unavailable, TimeoutError, UnknownCaller)
"""Errors that are logged without a stack trace."""


class Call(NamedTuple):
    connection_id: str
    since: int
    """When the connection was opened (ms)."""
    event: dict[str, Any]
    time_s: float
    """How long it may take."""


class Gateway:
    def __init__(self, settings: GatewaySettings, clock: Clock, fresh: Callable[[], str]) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._parts = Assembly(settings, clock, fresh)
        self._kafka = RequestServer(self._parts, settings.good_ms)
        self._connections: dict[str, ConnectionsApi] = {}
        self._has_table = settings.ledger.endpoint is None
        if settings.ledger.endpoint is None:
            tls()  # now, because Lambda gives a function more CPU while it starts

    def handle(self, event: dict[str, Any], context: Any = None) -> dict[str, Any]:
        return self._loop.run_until_complete(self._handle(event, _time_left(context)))

    async def _handle(self, event: dict[str, Any], time_s: float) -> dict[str, Any]:
        told = event["requestContext"]
        call = Call(told["connectionId"], int(told.get("connectedAt") or 0), event, time_s)
        routes = {"$connect": self._connect, "$disconnect": self._disconnect}
        answer = await routes.get(told["routeKey"], self._message)(call)
        await self._finish(told)
        return answer

    async def _have_table(self) -> None:
        """A local DynamoDB starts empty; in an account the table is made by the deployment."""
        if not self._has_table:
            await self._parts.ledger.create_table()
            self._has_table = True

    async def _connect(self, call: Call) -> dict[str, Any]:
        try:
            greeting = read_greeting(call.event.get("queryStringParameters"))
        except EnvelopeError as error:
            return {"statusCode": 400, "body": str(error)}
        told = call.event["requestContext"]
        connection = OpenConnection(
            *greeting.address,
            greeting.client,
            _identity(told, "userArn"),
            self._connections_at(told),
            _identity(told, "sourceIp"),
        )
        try:
            self._kafka.rights.admit(connection)
        except UnknownCaller as error:
            return {"statusCode": 403, "body": str(error)}
        now_ms = self._parts.clock.now_ms()
        try:
            async with asyncio.timeout(call.time_s):
                await self._have_table()
                if await self._kafka.is_too_fast(connection.source):
                    return {"statusCode": 429, "body": "too many new connections of this address"}
                await self._parts.connections.open(call.connection_id, connection, now_ms)
            self._kafka.connections.keep(call.connection_id, call.since, connection)
        except Exception as error:
            _log_failure("could not connect", call.connection_id, error)
            return {"statusCode": 503 if isinstance(error, EXPECTED) else 500}
        return {"statusCode": 200}

    async def _disconnect(self, call: Call) -> dict[str, Any]:
        connection_id = call.connection_id
        self._kafka.connections.forget(connection_id)
        try:
            async with asyncio.timeout(call.time_s):
                watched = await self._parts.connections.close_one(connection_id)
                await asyncio.gather(*(self._unwatch(each, connection_id) for each in watched))
        except Exception as error:
            _log_failure("left to expire", connection_id, error)
        return {"statusCode": 200}

    async def _unwatch(self, partition: Partition, connection_id: str) -> None:
        try:
            await self._parts.ledger.unwatch(partition, connection_id)
        except UnknownPartition:
            return

    async def _message(self, call: Call) -> dict[str, Any]:
        try:
            message = decode(call.event.get("body") or "")
        except EnvelopeError as error:
            text = _refused(call.connection_id, 0, error)
        else:
            text = await self._answered(message, call)
        return {"statusCode": 200, "body": text}

    async def _answered(self, message: Message, call: Call) -> str:
        connection_id, seq = call.connection_id, getattr(message, "seq", 0)
        try:
            async with asyncio.timeout(call.time_s):
                await self._have_table()
                return await self._answer(message, call)
        except Unread as error:
            return _refused(connection_id, seq, error, ErrorAction.RETRY)
        except Exception as error:
            # A response may have no field for an error; a client asks again on a new connection.
            return _refused(connection_id, seq, error)

    async def _answer(self, message: Message, call: Call) -> str:
        parts = self._parts
        if isinstance(message, Ping):
            return encode(Ping())
        if isinstance(message, Upload):
            key = request_key(await self._caller(call), message.seq, parts.fresh())
            return encode(await ticket(message, key, parts.presigner))
        if not isinstance(message, Request | Reference):
            raise EnvelopeError(f"a shim does not say {type(message).__name__.lower()}")
        lingers = isinstance(message, Request) and message.lingers
        scope = RequestScope(
            call.connection_id, call.since, message.seq, message.waited_ms, lingers
        )
        frame: Frame = b""
        if isinstance(message, Reference):
            frame = await uploaded(message, await self._caller(call), parts.objects)
        else:
            frame = message.frame
        serve = self._kafka.serve_several if message.several else self._kafka.serve
        return await serve(scope, frame)

    async def _caller(self, call: Call) -> str:
        """The principal that signed the handshake: only the event of $connect names it for sure."""
        return (await self._kafka.connections.look_up(call.connection_id, call.since)).principal

    async def _finish(self, told: dict[str, Any]) -> None:
        """Push wake-ups and finish tidying. What fails is left to others; the answer is not
        changed."""
        try:
            if self._parts.wakeups.pending:
                await self._parts.wakeups.flush(self._api(told), told["connectionId"])
            async with asyncio.timeout(TIDYING_S):
                await self._parts.broker.background_done()
        except TimeoutError:
            log.info("left some of the tidying to others")
        except Exception:
            log.exception("wake-ups or tidying were left to others")

    def _connections_at(self, told: dict[str, Any]) -> str:
        return self._settings.connections or _connections_url(told)

    def _api(self, told: dict[str, Any]) -> ConnectionsApi:
        url = self._connections_at(told)
        if url not in self._connections:
            self._connections[url] = ConnectionsApi(url)
        return self._connections[url]


def _time_left(context: Any) -> float:
    if context is None:
        return MOST_S
    return min(MOST_S, float(context.get_remaining_time_in_millis()) / 1000 - LAST_WORDS_S)


def _connections_url(told: dict[str, Any]) -> str:
    """The API's own name: pushes do not go through a custom domain."""
    domain = str(told["domainName"])
    if ".execute-api." not in domain:
        region = region_or(None)
        domain = f"{told['apiId']}.execute-api.{region}.{domain_of(region)}"
    return f"https://{domain}/{told['stage']}"


def _identity(told: dict[str, Any], name: str) -> str:
    return str((told.get("identity") or {}).get(name) or "")


def _refused(
    connection_id: str, seq: int, error: Exception, code: ErrorAction = ErrorAction.CLOSE
) -> str:
    _log_failure(f"refused seq={seq}", connection_id, error)
    return encode(Error(seq, code, _words(error)))


def _log_failure(what: str, connection_id: str, error: Exception) -> None:
    known = isinstance(error, (*EXPECTED, Unread))
    level, trace = (logging.WARNING, None) if known else (logging.ERROR, error)
    log.log(level, "%s connection=%s: %s", what, connection_id, _words(error), exc_info=trace)


def _words(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:LONGEST_WORDS]
