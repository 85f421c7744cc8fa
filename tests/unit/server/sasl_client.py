"""The client's side of a login, frame by frame, and a server to log in at."""

import asyncio
import base64
import hashlib
import hmac
import struct
from typing import Any, cast

from samsa.broker.broker import Broker
from samsa.runtime.audit import Audit
from samsa.security.access import Access
from samsa.security.principals import Principal
from samsa.security.sasl import Sasl
from samsa.security.scram import ScramCredential, ScramMechanism
from samsa.security.stand_ins import stand_in
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_response, request_frame
from samsa.wire.messages import api_versions, heartbeat, sasl_authenticate, sasl_handshake
from samsa_broker.server.listener import Server, ServerLimits
from samsa_broker.server.listeners import Kind, Listener
from samsa_broker.server.security import Security

PATIENCE_S = 30
PASSWORD = "correct horse"
PLAIN_TOKEN = b"\0alice\0" + PASSWORD.encode()


def made_up(user: str, sasl_name: str) -> ScramCredential:
    return stand_in(user, sasl_name, {}, b"secret")


NOW_MS = 1_700_000_000_000


class NamedAccess:
    """Whom the server took the client for."""

    is_limited = False

    def __init__(self, principal: Principal, host: str) -> None:
        self.principal = principal
        self.host = host


class Users:
    """alice and bob, with the same password."""

    def __init__(self) -> None:
        self.credentials = {
            (name, mechanism): ScramCredential.from_password(PASSWORD, b"salt" * 4, 4096, mechanism)
            for name in ("alice", "bob")
            for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
        }

    def access_for(self, principal: Principal, host: str) -> Access:
        return cast(Access, NamedAccess(principal, host))

    def credential(self, user: str, mechanism: ScramMechanism) -> ScramCredential | None:
        return self.credentials.get((user, mechanism))


def a_server(
    mechanisms: tuple[str, ...] = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
    reauthenticate_ms: int = 0,
    **more: Any,
) -> Server:
    users = Users()
    sasl = Sasl(mechanisms, users.credential, made_up, more.get("token_rules"))
    security = Security(users, Audit(), lambda: NOW_MS, sasl, reauthenticate_ms)
    broker = cast(Broker, type("Nothing", (), {"throttling": None})())
    return Server(broker, ServerLimits(), security=security)


LISTENER = Listener(Kind.SASL_PLAINTEXT)


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._number = 0

    @classmethod
    async def at(cls, address: tuple[str, int]) -> "Client":
        return cls(*await asyncio.open_connection(*address))

    def send(self, key: ApiKey, version: int, row: Any) -> None:
        self._number += 1
        self.writer.write(request_frame(APIS[key], version, self._number, "c", row))

    async def ask(self, key: ApiKey, version: int, row: Any) -> Any:
        self.send(key, version, row)
        frame = await self.frame()
        number, answer = read_response(APIS[key], version, memoryview(frame))
        assert number == self._number
        return answer

    async def frame(self) -> bytes:
        (size,) = struct.unpack(
            ">i", await asyncio.wait_for(self.reader.readexactly(4), PATIENCE_S)
        )
        return await asyncio.wait_for(self.reader.readexactly(size), PATIENCE_S)

    async def versions(self) -> Any:
        return await self.ask(ApiKey.API_VERSIONS, 3, api_versions.REQUEST())

    async def handshake(self, mechanism: str, version: int = 1) -> Any:
        row = sasl_handshake.REQUEST(mechanism=mechanism)
        return await self.ask(ApiKey.SASL_HANDSHAKE, version, row)

    async def token(self, token: bytes, version: int = 2) -> Any:
        row = sasl_authenticate.REQUEST(auth_bytes=token)
        return await self.ask(ApiKey.SASL_AUTHENTICATE, version, row)

    async def raw(self, token: bytes) -> bytes:
        self.writer.write(struct.pack(">i", len(token)) + token)
        return await self.frame()

    async def beat(self) -> Any:
        return await self.ask(ApiKey.HEARTBEAT, 3, heartbeat.REQUEST(group_id="g"))

    async def log_in(self, user: str = "alice") -> Any:
        assert not (await self.handshake("PLAIN")).error_code
        return await self.token(f"\0{user}\0{PASSWORD}".encode())

    async def scram(self, password: str = PASSWORD, user: str = "alice") -> Any:
        """The answer to the last token of SCRAM-SHA-256."""
        assert not (await self.handshake("SCRAM-SHA-256")).error_code
        bare = f"n={user},r=abcdef".encode()
        first = (await self.token(b"n,," + bare)).auth_bytes
        return await self.token(scram_final(bare, bytes(first), password))

    async def is_closed(self) -> bool:
        """Waits for the end; False if something else comes."""
        try:
            return await asyncio.wait_for(self.reader.read(1), PATIENCE_S) == b""
        except ConnectionError:
            return True


def scram_final(bare: bytes, server_first: bytes, password: str) -> bytes:
    fields = dict(part.split(b"=", 1) for part in server_first.split(b","))
    salted = hashlib.pbkdf2_hmac(
        "sha256", password.encode(), base64.b64decode(fields[b"s"]), int(fields[b"i"])
    )
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    unproven = b"c=biws,r=" + fields[b"r"]
    said = bare + b"," + server_first + b"," + unproven
    signature = hmac.digest(hashlib.sha256(client_key).digest(), said, "sha256")
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    return unproven + b",p=" + base64.b64encode(proof)
