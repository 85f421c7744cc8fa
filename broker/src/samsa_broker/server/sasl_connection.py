"""A connection by a listener with SASL: first a login, then requests as on any other.

Before the login a client may ask for ApiVersions, SaslHandshake and SaslAuthenticate. Anything else
ends the connection, as in Kafka. So does a login that is refused, after its answer, which is late:
a guess costs at least `REFUSAL_DELAY_S`. A login must be over in `LOGIN_WITHIN_S`.

After SaslHandshake 0 the tokens come as they are, in frames of their own; after version 1 they come
in SaslAuthenticate. If logins end (`Security.reauthenticate_ms`, or the end of a token), the client
logs in again on the same connection (KIP-368), with the same mechanism and as the same principal. A
connection that is used after the end of its login is closed.
"""

import asyncio
import secrets
import socket
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from samsa.broker.broker import Answer
from samsa.broker.work import SHORT
from samsa.dispatch import version_of_answer
from samsa.security.principals import Principal
from samsa.security.sasl import (
    LARGEST_BEFORE_LOGIN,
    LOGIN_WITHIN_S,
    REFUSAL_DELAY_S,
    Authenticated,
    Exchange,
    LoginRefused,
    Result,
)
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.frame import KafkaRequest, read_request
from samsa.wire.messages import sasl_authenticate, sasl_handshake

from .connection import HANDLING, Connection
from .listeners import Listener

if TYPE_CHECKING:
    from .listener import Server

_SIZE = struct.Struct(">i")


class LoginUnderWay(NamedTuple):
    mechanism: str
    exchange: Exchange
    is_raw: bool
    """Whether tokens come without SaslAuthenticate."""


class LoginEnded(ConnectionError):
    """The connection is closed; what there was to say about it was said."""


class SaslConnection(Connection):
    def __init__(
        self, sock: socket.socket, peer: str, server: "Server", listener: Listener
    ) -> None:
        super().__init__(sock, peer, server, listener)
        assert server.security is not None
        assert server.security.sasl is not None
        self._security = server.security
        self._sasl = server.security.sasl
        self._largest = self._buffer.max_frame
        self._buffer.max_frame = min(LARGEST_BEFORE_LOGIN, self._largest)
        self._under_way: LoginUnderWay | None = None
        self._principal: Principal | None = None
        """The principal that has logged in."""
        self._mechanism = ""
        self._is_locked = True
        """Whether requests are refused: before the login, and after its end."""
        self._ends = False
        """Whether this login ends, so that another one may follow it."""
        self._timer = self._loop.call_later(LOGIN_WITHIN_S, self._too_late)

    # A request: one of a login, or as usual

    def _handle_alike(self, frame: memoryview) -> bool:
        is_held = self._is_locked or self._under_way is not None
        return not is_held and super()._handle_alike(frame)

    async def _handle(self, frame: memoryview) -> None:
        if self._is_locked or self._under_way is not None or _is_handshake(frame):
            await self._handle_login(frame)
        else:
            await super()._handle(frame)

    async def _handle_login(self, frame: memoryview) -> None:
        self._phase = HANDLING
        await self._replies.all_sent()
        await self._sender.drained()
        if self._under_way is not None and self._under_way.is_raw:
            await self._take_raw(self._under_way, bytes(frame))
        else:
            await self._take_request(read_request(frame))
        self._buffer.release()

    async def _take_request(self, request: KafkaRequest) -> None:
        key = request.api_key
        if key == ApiKey.SASL_HANDSHAKE:
            self._count(request)
            await self._shake_hands(request)
        elif key == ApiKey.SASL_AUTHENTICATE and self._under_way is not None:
            self._count(request)
            await self._authenticate(request, self._under_way)
        elif key == ApiKey.API_VERSIONS and self._principal is None and self._under_way is None:
            self._count(request)
            await self._answer(request, await self._requests.answer(request))
        else:
            self._refuse_request(APIS[key].name)

    def _refuse_request(self, api: str) -> None:
        has_ended = self._principal is not None and self._under_way is None
        after = "after the end of the login" if has_ended else "before the login was over"
        raise self._refused(f"{api} {after}")

    async def _answer(self, request: KafkaRequest, row: Answer) -> None:
        if not self._answers.send(request, row):
            await self._answers.send_long(request, row)

    # SaslHandshake

    async def _shake_hands(self, request: KafkaRequest) -> None:
        if self._under_way is not None:
            raise self._refused("SaslHandshake in the middle of a login")
        row = self._decoded(request)
        again = self._principal is not None
        if again and not self._ends:
            illegal = ErrorCode.ILLEGAL_SASL_STATE
            await self._answer(request, sasl_handshake.RESPONSE(error_code=illegal))
            return
        self._timer.cancel()
        self._timer = self._loop.call_later(LOGIN_WITHIN_S, self._too_late)
        nonce = secrets.token_urlsafe(24)
        exchange = self._sasl.begin(row.mechanism, nonce, self._security.now_ms)
        known = list(self._sasl.mechanisms)
        if exchange is None:
            unknown = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            answer = sasl_handshake.RESPONSE(error_code=unknown, mechanisms=known)
            await self._answer(request, answer)
            await self._sender.drained()
            raise self._refused("a mechanism that is not offered", row.mechanism)
        is_raw = request.api_version == 0
        self._under_way = LoginUnderWay(row.mechanism, exchange, is_raw)
        await self._answer(request, sasl_handshake.RESPONSE(mechanisms=known))

    # Tokens

    async def _authenticate(self, request: KafkaRequest, login: LoginUnderWay) -> None:
        row = self._decoded(request)
        result = await self._step(login, bytes(row.auth_bytes))
        if isinstance(result, LoginRefused):
            again = self._principal is not None
            answer = sasl_authenticate.RESPONSE(
                error_code=ErrorCode.SASL_AUTHENTICATION_FAILED,
                error_message=result.message(login.mechanism, again),
            )
            await asyncio.sleep(REFUSAL_DELAY_S)
            await self._answer(request, answer)
            await self._sender.drained()
            raise self._refused(result.why, login.mechanism)
        lifetime_ms = self._logged_in(result) if isinstance(result, Authenticated) else 0
        await self._answer(
            request,
            sasl_authenticate.RESPONSE(auth_bytes=result.data, session_lifetime_ms=lifetime_ms),
        )
        if isinstance(result, Authenticated):
            self._note_login()

    async def _take_raw(self, login: LoginUnderWay, token: bytes) -> None:
        result = await self._step(login, token)
        if isinstance(result, LoginRefused):
            await asyncio.sleep(REFUSAL_DELAY_S)
            raise self._refused(result.why, login.mechanism)
        if isinstance(result, Authenticated):
            self._logged_in(result)
        reply = _SIZE.pack(len(result.data)) + result.data
        self._server.stats.bytes_out += len(reply)
        self._sender.write([reply], len(reply))
        if isinstance(result, Authenticated):
            self._note_login()

    async def _step(self, login: LoginUnderWay, token: bytes) -> Result:
        if self._principal is not None and login.mechanism != self._mechanism:
            why = f"SASL mechanism '{login.mechanism}' requested by client is not supported for "
            why += f"re-authentication of mechanism '{self._mechanism}'"
            return LoginRefused(why, why)
        result = await self._security.threads.step(login.mechanism, login.exchange, token)
        if isinstance(result, Authenticated) and self._principal not in (None, result.principal):
            why = f"Cannot change principals during re-authentication from {self._principal} "
            why += f"to {result.principal}"
            return LoginRefused(why, why)
        return result

    # The end of a login

    def _logged_in(self, result: Authenticated) -> int:
        """Returns how long the login is good, in milliseconds; 0 for ever."""
        assert self._under_way is not None
        self._mechanism, self._under_way = self._under_way.mechanism, None
        self._principal = result.principal
        self._requests.access = self._security.rights.access_for(result.principal, self.host)
        self._buffer.max_frame = self._largest
        self._is_locked = False
        return self._set_end(result.expires_ms)

    def _note_login(self) -> None:
        """After the answer, because the client waits for that: to write a line takes longer than
        the proof."""
        self._security.audit.logged_in(
            principal=self._principal,
            address=self.peer,
            listener=self.listener.name,
            mechanism=self._mechanism,
        )

    def _set_end(self, expires_ms: int | None) -> int:
        now_ms, longest_ms = self._security.now_ms(), self._security.reauthenticate_ms
        lifetimes = [] if expires_ms is None else [max(1, expires_ms - now_ms)]
        lifetimes += [longest_ms] if longest_ms else []
        self._timer.cancel()
        lifetime_ms = min(lifetimes, default=0)
        self._ends = bool(lifetimes)
        if lifetimes:
            self._timer = self._loop.call_later(lifetime_ms / 1000, self._lock)
        return lifetime_ms

    def _lock(self) -> None:
        self._is_locked = True

    def _too_late(self) -> None:
        self._refused(f"not logged in within {LOGIN_WITHIN_S:.0f} s")
        self.abort()

    def _refused(self, why: str, mechanism: str = "") -> LoginEnded:
        """Notes the refusal. To be raised."""
        name = mechanism or (self._under_way.mechanism if self._under_way is not None else "")
        self._security.audit.refused_login(
            why, address=self.peer, listener=self.listener.name, mechanism=name
        )
        return LoginEnded(why)

    def _decoded(self, request: KafkaRequest) -> Any:
        version = version_of_answer(request)
        return APIS[request.api_key].request.decode(version, request.body, False, SHORT)

    def _close(self) -> None:
        self._timer.cancel()
        super()._close()


def _is_handshake(frame: memoryview) -> bool:
    return len(frame) > 1 and frame[0] == 0 and frame[1] == ApiKey.SASL_HANDSHAKE
