"""Events in, answers out: connect, disconnect, message.

The loop, the connections to the stores and what is remembered live as long as the process does,
frozen between two events. Nothing of an event is left running: what is collected for others is
pushed, and the closing of stale slots is waited for, a little. What is not done then may stop for
ever, like any writer.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from samsa.aws.connections import ConnectionsApi
from samsa.aws.credentials import region_or
from samsa.aws.http import tls
from samsa.aws.open_connections import OpenConnection
from samsa.envelope import (
    EnvelopeError,
    Error,
    ErrorCode,
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
from samsa.ports import Clock, Partition, Unavailable, UnknownPartition
from samsa.wire.errors import DecodeError

from .assembly import Assembly
from .kafka import Kafka
from .replies import Unread
from .settings import Settings
from .uploads import BadUpload, spill_key, ticket, uploaded
from .visit import Visit

log = logging.getLogger("samsa.gateway")
MOST_S = 25.0
"""For an event: API Gateway waits for 29 s."""
LAST_WORDS_S = 1.0
"""Kept for the answer when a function's own time runs out."""
TIDYING_S = 1.0


class Call(NamedTuple):
    connection_id: str
    event: dict[str, Any]
    time_s: float
    """How long it may take."""


class Gateway:
    def __init__(self, settings: Settings, clock: Clock, fresh: Callable[[], str]) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._parts = Assembly(settings, clock, fresh)
        self._kafka = Kafka(self._parts, settings.good_ms)
        self._connections: dict[str, ConnectionsApi] = {}
        self._has_table = settings.ledger.endpoint is None
        if settings.ledger.endpoint is None:
            tls()  # while the function starts: it is given more of a processor then

    def handle(self, event: dict[str, Any], context: Any = None) -> dict[str, Any]:
        return self._loop.run_until_complete(self._handle(event, _time_left(context)))

    async def _handle(self, event: dict[str, Any], time_s: float) -> dict[str, Any]:
        told = event["requestContext"]
        call = Call(told["connectionId"], event, time_s)
        routes = {"$connect": self._connect, "$disconnect": self._disconnect}
        await self._have_table()
        try:
            return await routes.get(told["routeKey"], self._message)(call)
        finally:
            await self._finish(told)

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
        connection = OpenConnection(*greeting.address, greeting.client)
        now_ms = self._parts.clock.now_ms()
        try:
            await self._parts.connections.open(call.connection_id, connection, now_ms)
        except Unavailable as error:
            log.warning("could not connect %s: %s", call.connection_id, error)
            return {"statusCode": 503}
        return {"statusCode": 200}

    async def _disconnect(self, call: Call) -> dict[str, Any]:
        connection_id = call.connection_id
        self._kafka.whereabouts.forget(connection_id)
        try:
            watched = await self._parts.connections.close_one(connection_id)
            await asyncio.gather(*(self._unwatch(each, connection_id) for each in watched))
        except Unavailable as error:
            log.warning("left to expire: %s: %s", connection_id, error)
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
            text = _refused(call.connection_id, 0, ErrorCode.CLOSE, error)
        else:
            text = await self._answered(message, call)
        return {"statusCode": 200, "body": text}

    async def _answered(self, message: Message, call: Call) -> str:
        connection_id, seq = call.connection_id, getattr(message, "seq", 0)
        try:
            async with asyncio.timeout(call.time_s):
                return await self._answer(message, connection_id)
        except Unread as error:
            return _refused(connection_id, seq, ErrorCode.RETRY, error)
        except (DecodeError, EnvelopeError, BadUpload, Unavailable, TimeoutError) as error:
            # An answer may have no place for an error; a client asks again when it is cut off.
            return _refused(connection_id, seq, ErrorCode.CLOSE, error)
        except Exception as error:
            log.exception("request failed connection=%s", connection_id)
            return _refused(connection_id, seq, ErrorCode.CLOSE, error)

    async def _answer(self, message: Message, connection_id: str) -> str:
        parts = self._parts
        if isinstance(message, Ping):
            return encode(Ping())
        if isinstance(message, Upload):
            key = spill_key(connection_id, message.seq, parts.fresh())
            return encode(await ticket(message, key, parts.presigner))
        if not isinstance(message, Request | Reference):
            raise EnvelopeError(f"a shim does not say {type(message).__name__.lower()}")
        visit = parts.enter(Visit(connection_id, message.seq, message.waited_ms))
        frame: Frame = b""
        if isinstance(message, Reference):
            frame = await uploaded(message, parts.objects)
        else:
            frame = message.frame
        serve = self._kafka.serve_several if message.several else self._kafka.serve
        return await serve(visit, frame)

    async def _finish(self, told: dict[str, Any]) -> None:
        if self._parts.wakeups.pending:
            await self._parts.wakeups.flush(self._api(told))
        try:
            async with asyncio.timeout(TIDYING_S):
                await self._parts.broker.background_done()
        except TimeoutError:
            log.info("left some slots to be closed by others")

    def _api(self, told: dict[str, Any]) -> ConnectionsApi:
        url = self._settings.connections or _connections_url(told)
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
        domain = f"{told['apiId']}.execute-api.{region_or(None)}.amazonaws.com"
    return f"https://{domain}/{told['stage']}"


def _refused(connection_id: str, seq: int, code: ErrorCode, error: BaseException) -> str:
    why = str(error) or type(error).__name__
    log.warning("refused connection=%s seq=%d: %s", connection_id, seq, why)
    return encode(Error(seq, code, why[:1000]))
