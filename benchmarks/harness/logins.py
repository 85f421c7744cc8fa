"""Logins with SCRAM-SHA-512, one after the other, timed at the client's socket.

The client salts the password once, and not for each login: what is left is the broker's time, the
way between, and two hashes.
"""

import hmac
import secrets
import socket
import ssl
import time
from base64 import b64decode, b64encode
from functools import cache
from hashlib import sha512
from typing import Any, NamedTuple

from samsa.security.scram import ScramMechanism, salted_password
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_response, request_frame
from samsa.wire.messages import sasl_authenticate, sasl_handshake

from .process import ToolFailed
from .secured import MECHANISM, PASSWORD, USER

TIMEOUT_S = 30


class Login(NamedTuple):
    in_all_ms: float
    """From the first packet on."""
    alone_ms: float
    """From SaslHandshake on, on a connection that has TLS."""


class Client:
    """A connection: `ask` waits for each answer. Raises ToolFailed."""

    def __init__(self, address: str, context: ssl.SSLContext | None = None) -> None:
        host, _, port = address.rpartition(":")
        try:
            self.socket = socket.create_connection((host, int(port)), TIMEOUT_S)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is not None:
                self.socket = context.wrap_socket(self.socket, server_hostname=host)
        except OSError as error:
            raise ToolFailed(f"no connection: {error}") from error
        self.file = self.socket.makefile("rb")

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def ask(self, key: ApiKey, version: int, row: Any) -> Any:
        try:
            self.socket.sendall(request_frame(APIS[key], version, 1, "bench", row))
            size = int.from_bytes(self.file.read(4), "big")
            _, answer = read_response(APIS[key], version, memoryview(self.file.read(size)))
        except (OSError, ValueError, IndexError) as error:
            raise ToolFailed(f"no answer to {key.name}: {error!r}") from error
        if getattr(answer, "error_code", 0):
            raise ToolFailed(f"{key.name} was answered with error {answer.error_code}")
        return answer

    def log_in(self) -> None:
        self.ask(ApiKey.SASL_HANDSHAKE, 1, sasl_handshake.REQUEST(mechanism=MECHANISM))
        bare = f"n={USER},r={secrets.token_urlsafe(18)}".encode()
        first = self._token(b"n,," + bare)
        self._token(_final(bare, first))

    def _token(self, token: bytes) -> bytes:
        row = sasl_authenticate.REQUEST(auth_bytes=token)
        return bytes(self.ask(ApiKey.SASL_AUTHENTICATE, 2, row).auth_bytes)


def log_in(address: str, context: ssl.SSLContext) -> Login:
    """Once. Raises ToolFailed."""
    began = time.perf_counter()
    with Client(address, context) as client:
        connected = time.perf_counter()
        client.log_in()
        ended = time.perf_counter()
    return Login((ended - began) * 1e3, (ended - connected) * 1e3)


def _final(bare: bytes, first: bytes) -> bytes:
    said = dict(part.split(b"=", 1) for part in first.split(b","))
    salted = _salted(b64decode(said[b"s"]), int(said[b"i"]))
    client_key = hmac.digest(salted, b"Client Key", "sha512")
    unproven = b"c=biws,r=" + said[b"r"]
    signed = bare + b"," + first + b"," + unproven
    signature = hmac.digest(sha512(client_key).digest(), signed, "sha512")
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    return unproven + b",p=" + b64encode(proof)


@cache
def _salted(salt: bytes, iterations: int) -> bytes:
    return salted_password(PASSWORD, salt, iterations, ScramMechanism.SCRAM_SHA_512)
