"""A small Kafka client, enough to try a broker with: one connection, one request at a time."""

import argparse
import socket
import struct
from contextlib import suppress
from typing import Any, Self

from samsa.wire.apis import APIS, Api, ApiKey
from samsa.wire.errors import DecodeError, ErrorCode
from samsa.wire.frame import read_response, request_frame

from .login import BadLogin, ClientLogin, read_login

TIMEOUT_S = 30.0
CLIENT_ID = "samsa-cli"


class ClientError(Exception):
    """What went wrong, written for the person at the terminal."""


class NotServed(ClientError):
    """The broker does not know this kind of request."""


def login_of(path: str | None) -> ClientLogin:
    """What the file of `--command-config` says. Raises ClientError."""
    try:
        return read_login(path) if path else ClientLogin()
    except OSError as error:
        raise ClientError(f"{path}: {error.strerror or error}") from error
    except BadLogin as error:
        raise ClientError(str(error)) from error


class Client:
    def __init__(self, bootstrap: str, login: ClientLogin | None = None) -> None:
        """Raises ClientError."""
        host, _, port = bootstrap.rpartition(":")
        if not host or not port.isdigit():
            raise ClientError(f"{bootstrap!r} is not HOST:PORT")
        self._where = bootstrap
        self._login = login or ClientLogin()
        self._number = 0
        try:
            self._socket = self._connected(host.strip("[]"), int(port))
        except OSError as error:
            why = error.strerror or error
            raise ClientError(
                f"no broker answers at {bootstrap} ({why}). Start one with: samsa up"
            ) from error
        try:
            self._versions = self._ask_versions()
        except ClientError as error:
            raise ClientError(f"{error}{self._hint()}") from error
        if self._login.has_sasl:
            self._log_in()

    def _hint(self) -> str:
        """Of a first request that got no answer: TLS and plain text do not understand each
        other."""
        if self._login.has_tls:
            return ""
        return ". If it wants TLS or a login, give --command-config FILE"

    @classmethod
    def of(cls, given: argparse.Namespace) -> Self:
        """By the options of `add_bootstrap`."""
        return cls(given.bootstrap, login_of(getattr(given, "command_config", None)))

    def _connected(self, host: str, port: int) -> socket.socket:
        plain = socket.create_connection((host, port), TIMEOUT_S)
        if not self._login.has_tls:
            return plain
        try:
            return self._login.tls().wrap_socket(plain, server_hostname=host)
        except OSError as error:
            plain.close()
            raise ClientError(f"no TLS with {self._where}: {error}") from error

    def _log_in(self) -> None:
        from samsa.wire.messages import sasl_authenticate, sasl_handshake

        def send(words: bytes) -> bytes:
            row = sasl_authenticate.REQUEST(auth_bytes=words)
            answer = self.ask(ApiKey.SASL_AUTHENTICATE, row)
            check(answer.error_code, answer.error_message, f"login of {self._login.user!r}")
            return bytes(answer.auth_bytes)

        row = sasl_handshake.REQUEST(mechanism=self._login.mechanism)
        answer = self.ask(ApiKey.SASL_HANDSHAKE, row)
        offered = ", ".join(answer.mechanisms) or "none"
        check(answer.error_code, None, f"{self._login.mechanism} (the broker has {offered})")
        try:
            self._login.authenticate(send)
        except BadLogin as error:
            raise ClientError(str(error)) from error

    def _ask_versions(self) -> dict[int, range]:
        row = self._exchange(APIS[ApiKey.API_VERSIONS], 0, APIS[ApiKey.API_VERSIONS].request())
        return {api.api_key: range(api.min_version, api.max_version + 1) for api in row.api_keys}

    def ask(self, key: ApiKey, row: Any, at_most: int = 1_000) -> Any:
        """Send a request in the newest version that both sides know, and wait for its answer."""
        api = APIS[key]
        theirs = self._versions.get(key, range(0))
        both = [version for version in api.versions if version in theirs and version <= at_most]
        if not both:
            raise NotServed(f"the broker at {self._where} does not serve {api.name}")
        return self._exchange(api, both[-1], row)

    def _exchange(self, api: Api, version: int, row: Any) -> Any:
        self._number += 1
        try:
            self._socket.sendall(request_frame(api, version, self._number, CLIENT_ID, row))
            (size,) = struct.unpack(">i", self._read(4))
            number, answer = read_response(api, version, memoryview(self._read(size)))
        except TimeoutError as error:
            raise ClientError(f"{self._where} did not answer within {TIMEOUT_S:.0f} s") from error
        except (OSError, DecodeError, struct.error) as error:
            raise ClientError(f"lost the connection to {self._where}: {error}") from error
        if number != self._number:
            raise ClientError(f"{self._where} sent an answer to another request")
        return answer

    def _read(self, size: int) -> bytes:
        chunks = []
        while size > 0:
            chunk = self._socket.recv(min(size, 1 << 20))
            if not chunk:
                raise ConnectionError("it was closed")
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)

    def all_nodes(self) -> list["Client"]:
        """A client of each node of the cluster."""
        from samsa.wire.messages import metadata

        nodes = self.ask(ApiKey.METADATA, metadata.REQUEST(topics=[])).brokers
        if len(nodes) == 1:
            return [self]
        return [Client(f"{node.host}:{node.port}", self._login) for node in nodes]

    def topics(self, names: list[str] | None, create: bool = False) -> list[Any]:
        from samsa.wire.messages import metadata

        asked = None if names is None else [metadata.TOPIC(name=name) for name in names]
        row = metadata.REQUEST(topics=asked, allow_auto_topic_creation=create)
        found: list[Any] = self.ask(ApiKey.METADATA, row).topics
        return found

    def topic(self, name: str, create: bool = False) -> Any:
        topic = self.topics([name], create)[0]
        check(topic.error_code, None, f"topic {name!r}")
        return topic

    def close(self) -> None:
        self._socket.close()

    def interrupt(self) -> None:
        """For another thread: a request that is under way fails now."""
        with suppress(OSError):  # it is closed already
            self._socket.shutdown(socket.SHUT_RDWR)


def check(code: int, message: str | None, what: str) -> None:
    if code:
        raise ClientError(f"{what}: {message or ErrorCode(code).name.lower().replace('_', ' ')}")
