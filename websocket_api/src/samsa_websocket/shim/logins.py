"""Logins of the shim's own clients, by SASL, before the cluster is asked anything for them.

All clients of a shim act as the shim's AWS identity. So a shim that other machines can reach lets
in only those who log in: with a user of a ledger, which `samsa users` makes. Until then a client
may ask for ApiVersions, SaslHandshake and SaslAuthenticate, and costs the cluster nothing: its
WebSocket is opened after its login. A login that is refused ends the connection.

The names of users stay here: the cluster sees the shim's identity.
"""

import asyncio
import secrets
import struct
from pathlib import Path
from typing import Any

from samsa.access.logins import StoredLogins
from samsa.access.view import SecurityView
from samsa.broker.work import SHORT
from samsa.dispatch import version_of_answer
from samsa.handlers.k18_api_versions import listed, unsupported_version
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import Groups, Ledger
from samsa.runtime.audit import Audit
from samsa.runtime.login_threads import LoginThreads
from samsa.runtime.store_address import BadUrl, local_path, read_store_url
from samsa.runtime.store_urls import LEDGER_FILE, open_groups, open_ledger
from samsa.runtime.system import SystemClock, fresh_words
from samsa.security.sasl import (
    LARGEST_BEFORE_LOGIN,
    LOGIN_WITHIN_S,
    PLAIN,
    REFUSAL_DELAY_S,
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    Authenticated,
    Exchange,
    LoginRefused,
    Sasl,
)
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError, ErrorCode
from samsa.wire.frame import KafkaRequest, read_request, response_frame
from samsa.wire.messages import sasl_authenticate, sasl_handshake
from samsa_websocket.shim.errors import HangUp

MECHANISMS = (SCRAM_SHA_512, SCRAM_SHA_256, PLAIN)
_SIZE = struct.Struct(">i")


class Users:
    """Users of a ledger, as they are now: changes are in force within two seconds."""

    def __init__(self, groups: Groups, ledger: Ledger | None) -> None:
        self.view = SecurityView(groups, SystemClock(), fresh_words())
        self.audit = Audit()
        self.threads = LoginThreads()
        logins = StoredLogins(self.view, secrets.token_bytes(32))
        self.sasl = Sasl(MECHANISMS, logins.credential_of, logins.stand_in_of)
        self._groups, self._ledger = groups, ledger

    async def close(self) -> None:
        self.threads.close()
        await self._groups.close()
        if self._ledger is not None:
            await self._ledger.close()


async def open_users(url: str) -> Users:
    """Raises BadUrl; Unavailable if the ledger does not answer."""
    store = read_store_url(url)
    ledger = None
    if store.scheme == "sqlite":
        path = local_path(store, LEDGER_FILE)
        if not Path(path).exists():  # noqa: ASYNC240 -- nobody is served yet
            raise BadUrl(f"{path} is not there: samsa users add NAME --ledger {url} makes it")
        groups: Groups = SqliteGroups(path)
    else:
        ledger = await open_ledger(url, fsync=False)
        groups = open_groups(url, ledger, fsync=False)
    users = Users(groups, ledger)
    try:
        await users.view.current()
    except BaseException:
        await users.close()
        raise
    return users


async def log_in(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, users: Users, peer: str
) -> None:
    """Raises HangUp if the client is not let in; OSError if it has gone."""
    login = _Login(reader, writer, users)
    try:
        async with asyncio.timeout(LOGIN_WITHIN_S):
            result = await login.run()
    except TimeoutError:
        login.why = f"not logged in within {LOGIN_WITHIN_S:.0f} s"
        result = None
    except DecodeError as error:
        login.why, result = str(error), None
    where = {"address": peer, "listener": "shim", "mechanism": login.mechanism}
    if result is None:
        users.audit.refused_login(login.why, **where)
        raise HangUp("its login was refused")
    users.audit.logged_in(principal=result.principal, **where)


class _Login:
    """One client's requests up to the end of its login."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, users: Users
    ) -> None:
        self.mechanism = ""
        self.why = ""
        """It was refused."""
        self._reader, self._writer, self._users = reader, writer, users
        self._exchange: Exchange | None = None
        self._is_raw = False
        """Whether tokens come without SaslAuthenticate, as after SaslHandshake 0."""

    async def run(self) -> Authenticated | None:
        """None if it was refused. Raises DecodeError; OSError."""
        while not self.why:
            frame = await self._frame()
            if self._is_raw and self._exchange is not None:
                result = await self._take_raw(self._exchange, frame)
            else:
                result = await self._take(read_request(memoryview(frame)))
            if result is not None:
                return result
        return None

    async def _frame(self) -> bytes:
        try:
            (size,) = _SIZE.unpack(await self._reader.readexactly(_SIZE.size))
            if not 0 < size <= LARGEST_BEFORE_LOGIN:
                raise DecodeError(f"a frame of {size} bytes before the login")
            return await self._reader.readexactly(size)
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError("it has gone") from error

    async def _take(self, request: KafkaRequest) -> Authenticated | None:
        key, exchange = request.api_key, self._exchange
        if key == ApiKey.API_VERSIONS and exchange is None:
            await self._list_versions(request)
        elif key == ApiKey.SASL_HANDSHAKE and exchange is None:
            await self._shake_hands(request)
        elif key == ApiKey.SASL_AUTHENTICATE and exchange is not None:
            return await self._authenticate(request, exchange)
        else:
            self.why = f"{APIS[key].name} before the login was over"
        return None

    async def _list_versions(self, request: KafkaRequest) -> None:
        version = version_of_answer(request)
        is_known = version == request.api_version
        await self._answer(request, listed(version) if is_known else unsupported_version())

    async def _shake_hands(self, request: KafkaRequest) -> None:
        row = _decoded(request)
        await self._users.view.refresh()
        nonce = secrets.token_urlsafe(24)
        self.mechanism = row.mechanism
        self._exchange = self._users.sasl.begin(row.mechanism, nonce, SystemClock().now_ms)
        self._is_raw = request.api_version == 0
        code = ErrorCode.NONE
        if self._exchange is None:
            code = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            self.why = "a mechanism that is not offered"
        answer = sasl_handshake.RESPONSE(error_code=code, mechanisms=list(MECHANISMS))
        await self._answer(request, answer)

    async def _authenticate(
        self, request: KafkaRequest, exchange: Exchange
    ) -> Authenticated | None:
        token = bytes(_decoded(request).auth_bytes)
        result = await self._users.threads.step(self.mechanism, exchange, token)
        if isinstance(result, LoginRefused):
            answer = sasl_authenticate.RESPONSE(
                error_code=ErrorCode.SASL_AUTHENTICATION_FAILED,
                error_message=result.message(self.mechanism),
            )
            self.why = result.why
            await asyncio.sleep(REFUSAL_DELAY_S)
            await self._answer(request, answer)
            return None
        await self._answer(request, sasl_authenticate.RESPONSE(auth_bytes=result.data))
        return result if isinstance(result, Authenticated) else None

    async def _take_raw(self, exchange: Exchange, token: bytes) -> Authenticated | None:
        result = await self._users.threads.step(self.mechanism, exchange, token)
        if isinstance(result, LoginRefused):
            self.why = result.why
            await asyncio.sleep(REFUSAL_DELAY_S)
            return None
        await self._send(_SIZE.pack(len(result.data)) + result.data)
        return result if isinstance(result, Authenticated) else None

    async def _answer(self, request: KafkaRequest, row: Any) -> None:
        version = version_of_answer(request)
        segments = APIS[request.api_key].response.encode(version, row)
        frame = response_frame(request.api_key, version, request.correlation_id, segments)
        await self._send(b"".join(map(bytes, frame)))

    async def _send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


def _decoded(request: KafkaRequest) -> Any:
    """Raises DecodeError."""
    version = version_of_answer(request)
    return APIS[request.api_key].request.decode(version, request.body, False, SHORT)
