"""How the commands log in: their settings, and SCRAM against the broker's side."""

import socket
from pathlib import Path
from typing import Any

import pytest

from samsa.security.results import Authenticated, Challenge, LoginRefused
from samsa.security.scram import ScramCredential, ScramExchange, ScramMechanism
from samsa.wire.apis import Api, ApiKey
from samsa.wire.messages import api_versions, sasl_authenticate, sasl_handshake
from samsa_broker.cli.client import Client, ClientError
from samsa_broker.cli.login import BadLogin, ClientLogin, read_login
from samsa_broker.cli.registry_client import RegistryClient

PASSWORD = "s3cret=,ü"
USER = "a=li,ce"


class Server:
    """The broker's side of one login."""

    def __init__(self, mechanism: ScramMechanism, password: str = PASSWORD) -> None:
        held = ScramCredential.from_password(password, b"0123456789", 4096, mechanism)
        self.exchange = ScramExchange(
            mechanism, lambda user, _: held if user == USER else None, "nonce", lambda *_: held
        )
        self.ended: Authenticated | LoginRefused | None = None

    def send(self, words: bytes) -> bytes:
        found = self.exchange.step(words)
        if isinstance(found, Challenge):
            return found.data
        self.ended = found
        return found.data if isinstance(found, Authenticated) else b"e=other-error"


@pytest.mark.parametrize("name", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_who_knows_the_password_is_let_in(name: str):
    server = Server(ScramMechanism.of(name))
    ClientLogin("sasl_ssl", mechanism=name, user=USER, password=PASSWORD).authenticate(server.send)
    assert isinstance(server.ended, Authenticated)
    assert server.ended.principal.name == USER


def test_who_does_not_know_it_is_not():
    server = Server(ScramMechanism.SCRAM_SHA_256, "another")
    login = ClientLogin("sasl_ssl", mechanism="SCRAM-SHA-256", user=USER, password=PASSWORD)
    with pytest.raises(BadLogin):
        login.authenticate(server.send)
    assert isinstance(server.ended, LoginRefused)


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"\xff",
        b"r=x",
        b"r=other,s=MDEyMw==,i=4096",
        b"r={},s=MDEyMw==,i=4095",
        b"r={},s=MDEyMw==,i=99999999",
        b"r={},s=MDEyMw==,i=many",
        b"r={},s=!,i=4096",
    ],
)
def test_a_broker_that_is_none_learns_nothing(first: bytes):
    said: list[bytes] = []

    def send(words: bytes) -> bytes:
        said.append(words)
        return first.replace(b"{}", words.rpartition(b"r=")[2] + b"x")

    login = ClientLogin("sasl_plaintext", mechanism="SCRAM-SHA-256", user=USER, password=PASSWORD)
    with pytest.raises(BadLogin):
        login.authenticate(send)
    assert len(said) == 1


def test_a_broker_that_does_not_know_the_password_is_not_trusted():
    answers = iter([b"r={}x,s=MDEyMw==,i=4096", b"v=AAAA"])

    def send(words: bytes) -> bytes:
        return next(answers).replace(b"{}", words.rpartition(b"r=")[2])

    login = ClientLogin("sasl_ssl", mechanism="SCRAM-SHA-256", user=USER, password=PASSWORD)
    with pytest.raises(BadLogin, match="did not show"):
        login.authenticate(send)


def test_plain_is_one_message():
    said: list[bytes] = []
    login = ClientLogin("sasl_ssl", mechanism="PLAIN", user="alice", password="s3cret")
    login.authenticate(lambda words: (said.append(words), b"")[1])
    assert said == [b"\0alice\0s3cret"]


def test_settings_are_those_of_librdkafka(tmp_path: Path):
    file = tmp_path / "client.properties"
    file.write_text(
        "# for alice\n  bootstrap.servers=127.0.0.1:9092\n  security.protocol=SASL_SSL\n"
        "ssl.ca.location=/ca.pem\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=alice\n"
        "sasl.password=a=b\n"
    )
    login = read_login(str(file))
    assert login == ClientLogin("sasl_ssl", "/ca.pem", None, None, "SCRAM-SHA-512", "alice", "a=b")
    assert login.has_tls
    assert login.has_sasl
    assert "a=b" not in repr(login)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("security.protocol=sasl", "security.protocol is one of"),
        ("security.protocol=sasl_ssl\nsasl.mechanism=GSSAPI", "sasl.mechanism is"),
        ("ssl.password=1", "'ssl.password' is none of"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, text: str, problem: str):
    file = tmp_path / "client.properties"
    file.write_text(text)
    with pytest.raises(BadLogin, match=problem):
        read_login(str(file))


def test_a_broker_that_does_not_prove_itself_is_an_error_of_the_client():
    class Impostor(Client):
        """Offers SCRAM, and answers nonsense to its first message."""

        def _connected(self, host: str, port: int) -> socket.socket:
            return socket.socket()

        def _exchange(self, api: Api, version: int, row: Any) -> Any:
            if api.key == ApiKey.API_VERSIONS:
                answers = [
                    api_versions.API_VERSION(api_key=key, min_version=0, max_version=1)
                    for key in (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)
                ]
                return api_versions.RESPONSE(api_keys=answers)
            if api.key == ApiKey.SASL_HANDSHAKE:
                return sasl_handshake.RESPONSE(mechanisms=["SCRAM-SHA-512"])
            return sasl_authenticate.RESPONSE(auth_bytes=b"nonsense")

    login = ClientLogin("sasl_plaintext", mechanism="SCRAM-SHA-512", user="alice", password="x")
    with pytest.raises(ClientError, match="the broker's answer is not one of SCRAM"):
        Impostor("127.0.0.1:1", login)


def test_a_missing_file_of_an_authority_is_an_error_of_the_registry_client(tmp_path: Path):
    login = ClientLogin("ssl", ca=str(tmp_path / "missing.pem"))
    with pytest.raises(ClientError, match="no TLS with https:"):
        RegistryClient("https://127.0.0.1:1", login).ask("GET", "/subjects")
