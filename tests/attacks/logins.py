"""Attacks on who may come in: on TLS, on logins, and on tokens.

The broker has a listener of each kind. The client beside the attack comes by the plain one.
"""

import json
import os
import re
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from joserfc import jwt
from joserfc.jwk import OctKey
from server.peer import Peer
from server.process import Samsa
from server.talk import fetch_row, write
from support.tls import Certificates
from support.tokens import AUDIENCE, ISSUER, Issuer, first_message, part
from unit.server.sasl_client import scram_final

from samsa.security.scram import ScramMechanism, salted_password
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.frame import request_frame
from samsa.wire.messages import alter_user_scram_credentials as users
from samsa.wire.messages import metadata, sasl_authenticate, sasl_handshake
from samsa_broker.cli.certificates import Authority

KINDS = ("plaintext", "tls", "sasl+plaintext", "sasl+tls")
LISTENS = re.compile(r"listens\s+(\S+)://127\.0\.0\.1:(\d+)")
MECHANISMS = "PLAIN,SCRAM-SHA-256,OAUTHBEARER"
BEFORE_LOGIN = {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE}
PASSWORD = "correct horse"
CROWD = 200
PATIENCE_S = 30


@cache
def issuer() -> Issuer:
    return Issuer()


def secured(folder: Path) -> tuple[str, ...]:
    """The options of a broker that knows its clients in every way there is."""
    files = Certificates(folder)
    jwks = folder / "jwks.json"
    jwks.write_bytes(issuer().jwks)
    listen = [part for kind in KINDS for part in ("--listen", f"{kind}://127.0.0.1:0")]
    return (
        *listen,
        *("--tls-cert", str(files.server), "--tls-key", str(files.server_key)),
        *("--tls-client-ca", str(files.ca), "--sasl-mechanisms", MECHANISMS),
        *("--oauth-jwks", str(jwks), "--oauth-issuer", ISSUER, "--oauth-audience", AUDIENCE),
        *("--acls", "--super-user", "User:ANONYMOUS", "--super-user", "User:alice"),
    )


def at(samsa: Samsa, kind: str) -> tuple[str, int]:
    found = dict(LISTENS.findall((samsa.folder / "stdout").read_text()))
    return "127.0.0.1", int(found[kind])


def context(samsa: Samsa, *, shows_certificate: bool = True) -> ssl.SSLContext:
    """Of a client whose certificate is good. The files are those that are there."""
    folder = samsa.folder
    made = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    if shows_certificate:
        made.load_cert_chain(folder / "client.pem", folder / "client.key")
    return made


class Login(NamedTuple):
    peer: Peer

    def shake(self, mechanism: str) -> None:
        row = sasl_handshake.REQUEST(mechanism=mechanism)
        assert self.peer.ask(ApiKey.SASL_HANDSHAKE, 1, row).error_code == ErrorCode.NONE

    def token(self, token: bytes) -> Any:
        row = sasl_authenticate.REQUEST(auth_bytes=token)
        return self.peer.ask(ApiKey.SASL_AUTHENTICATE, 2, row)

    def scram(self, password: str = PASSWORD) -> Any:
        self.shake("SCRAM-SHA-256")
        bare = b"n=alice,r=abcdef"
        first = self.token(b"n,," + bare)
        return self.token(scram_final(bare, bytes(first.auth_bytes), password))

    def is_refused(self, token: bytes) -> bool:
        """By an error, and the end of the connection."""
        answer = self.token(token)
        if not answer.error_code:  # OAUTHBEARER says why first, and the client confirms
            assert b"invalid_token" in bytes(answer.auth_bytes)
            answer = self.token(b"\x01")
        return answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED and self.peer.is_closed()


@contextmanager
def a_login(samsa: Samsa) -> Iterator[Login]:
    with Peer(at(samsa, "sasl+plaintext")) as peer:
        yield Login(peer)


def _make_alice(samsa: Samsa) -> None:
    salt, kind = b"salt" * 4, ScramMechanism.SCRAM_SHA_256
    row = users.UPSERTION(
        name="alice", mechanism=kind, iterations=4096, salt=salt,
        salted_password=salted_password(PASSWORD, salt, 4096, kind),
    )  # fmt: skip
    with samsa.peer() as peer:
        answer = peer.ask(
            ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, users.REQUEST(deletions=[], upsertions=[row])
        )
    assert answer.results[0].error_code == ErrorCode.NONE


def _is_let_in(samsa: Samsa) -> None:
    """A user with the right password is served, by TLS."""
    with Peer(at(samsa, "sasl+tls")) as peer:
        peer.socket = context(samsa).wrap_socket(peer.socket, server_hostname="127.0.0.1")
        assert Login(peer).scram().error_code == ErrorCode.NONE
        assert peer.ask(ApiKey.METADATA, 12, metadata.REQUEST(topics=[])).brokers


# TLS


def hello(version: bytes, ciphers: bytes = b"\xc0\x2f\xc0\x30\x00\x2f\x00\x35") -> bytes:
    """The first message of a client that knows this version at most."""
    said = version + os.urandom(32) + b"\0" + len(ciphers).to_bytes(2, "big") + ciphers
    said += b"\x01\0\0\0"
    handshake = b"\x01" + len(said).to_bytes(3, "big") + said
    return b"\x16\x03\x01" + len(handshake).to_bytes(2, "big") + handshake


DOWNGRADES = {
    "SSL 3.0": hello(b"\x03\x00"),
    "TLS 1.0": hello(b"\x03\x01"),
    "TLS 1.1": hello(b"\x03\x02"),
    "no encryption": hello(b"\x03\x03", b"\x00\x01\x00\x02\x00\x3b\xc0\x10"),
    "RC4, DES and export ciphers": hello(b"\x03\x03", b"\x00\x05\x00\x09\x00\x03\x00\x08"),
    "no login": request_frame(APIS[ApiKey.METADATA], 12, 1, "c", metadata.REQUEST(topics=[])),
}


def downgrades(samsa: Samsa) -> None:
    """To older versions, to ciphers that are none, and to no TLS at all."""
    for said in [*DOWNGRADES.values()] * 20:
        for kind in ("tls", "sasl+tls"):
            with Peer(at(samsa, kind)) as peer:
                peer.say(said)
                _is_alert(peer)
    _make_alice(samsa)
    _is_let_in(samsa)


def _is_alert(peer: Peer) -> None:
    """Nothing but an alert comes, and the end."""
    answer = b""
    with suppress(ConnectionResetError):
        while more := peer.socket.recv(1024):
            answer += more
    assert answer[:1] in (b"", b"\x15")
    assert len(answer) <= 7


def hostile_certificates(samsa: Samsa) -> None:
    """Of another authority, of a server, and none."""
    strange = samsa.folder / "strange.pem", samsa.folder / "strange.key"
    Authority("Another").client("alice", "Example").write(*strange)
    own = samsa.folder / "server.pem", samsa.folder / "server.key"
    for files in [strange, own, None] * 30:
        made = context(samsa, shows_certificate=False)
        if files is not None:
            made.load_cert_chain(*files)
        with Peer(at(samsa, "tls")) as peer:
            try:
                # With TLS 1.3 a client hears of the refusal by its first read.
                peer.socket = made.wrap_socket(peer.socket, server_hostname="127.0.0.1")
                peer.send(ApiKey.METADATA, 12, metadata.REQUEST(topics=[]))
                assert peer.socket.recv(1) == b""
            except OSError:
                pass


def handshakes_that_trickle(samsa: Samsa) -> None:
    """Some bytes of a handshake, then one after the other; some of them end half-way."""
    whole = hello(b"\x03\x03")
    begun = [socket.create_connection(at(samsa, "tls")) for _ in range(CROWD)]
    for position in range(60):
        for number, sock in enumerate(begun):
            with suppress(OSError):
                sock.sendall(whole[position : position + 1])
                if position == 30 and number % 4 == 0:
                    sock.shutdown(socket.SHUT_WR)
    _make_alice(samsa)
    _is_let_in(samsa)
    for sock in begun:
        sock.close()


def tls_clients_that_never_read(samsa: Samsa) -> None:
    with samsa.peer() as peer:
        for _ in range(16):
            write(peer, "deaf", b"x" * 900_000)
    deaf = [Peer(at(samsa, "tls"), receive_buffer=4096) for _ in range(40)]
    for one in deaf:
        one.socket = context(samsa).wrap_socket(one.socket, server_hostname="127.0.0.1")
        for _ in range(4):
            one.send(ApiKey.FETCH, 12, fetch_row("deaf", 0))
    for one in deaf[::2]:  # half-closed: they say that they end, and still do not read
        with suppress(OSError):
            one.socket.setblocking(False)
            one.socket.unwrap()
    _make_alice(samsa)
    _is_let_in(samsa)
    for one in deaf:
        one.close()


# Logins


def every_api_before_a_login(samsa: Samsa) -> None:
    for kind in ("sasl+plaintext", "sasl+tls"):
        tls = context(samsa)
        for key, api in APIS.items():
            if key in BEFORE_LOGIN:
                continue
            with Peer(at(samsa, kind)) as peer:
                if kind == "sasl+tls":
                    peer.socket = tls.wrap_socket(peer.socket, server_hostname="127.0.0.1")
                peer.say(request_frame(api, api.versions[-1], 1, "c", api.request()))
                assert peer.is_closed(), key.name


def a_thousand_logins(samsa: Samsa) -> None:
    """Guesses, in a second if the machine is fast enough: half of them to be hashed by the
    broker."""
    _make_alice(samsa)
    shake = {
        name: request_frame(
            APIS[ApiKey.SASL_HANDSHAKE], 1, 1, "c", sasl_handshake.REQUEST(mechanism=name)
        )
        for name in ("PLAIN", "SCRAM-SHA-256")
    }
    began = time.monotonic()
    crowd: list[socket.socket] = []
    for number in range(1_000):
        name = "PLAIN" if number % 2 else "SCRAM-SHA-256"
        token = b"\0alice\0guess%d" % number if number % 2 else b"n,,n=alice,r=abcdef"
        row = sasl_authenticate.REQUEST(auth_bytes=token)
        said = request_frame(APIS[ApiKey.SASL_AUTHENTICATE], 2, 2, "c", row)
        if number % 2 == 0:
            wrong = sasl_authenticate.REQUEST(auth_bytes=b"c=biws,r=abcdef,p=AAAA")
            said += request_frame(APIS[ApiKey.SASL_AUTHENTICATE], 2, 3, "c", wrong)
        sock = socket.create_connection(at(samsa, "sasl+plaintext"), PATIENCE_S)
        sock.sendall(shake[name] + said)
        crowd.append(sock)
    print(f"1,000 logins in {time.monotonic() - began:.1f} s")
    _is_let_in(samsa)
    for sock in crowd:
        with sock, suppress(ConnectionResetError):
            while sock.recv(4096):  # until it is closed
                pass
    refused = [line for line in samsa.logged() if "login refused" in line]
    assert 0 < len(refused) < 1_000


def logins_that_are_replayed(samsa: Samsa) -> None:
    """What a login has said is worth nothing in the next one."""
    _make_alice(samsa)
    bare = b"n=alice,r=abcdef"
    with a_login(samsa) as login:
        login.shake("SCRAM-SHA-256")
        first = bytes(login.token(b"n,," + bare).auth_bytes)
        final = scram_final(bare, first, PASSWORD)
        assert login.token(final).error_code == ErrorCode.NONE
    for _ in range(20):
        with a_login(samsa) as login:
            login.shake("SCRAM-SHA-256")
            assert bytes(login.token(b"n,," + bare).auth_bytes) != first
            assert login.is_refused(final)


def huge_tokens(samsa: Samsa) -> None:
    """As long as a frame may be before a login, and longer."""
    size = 400_000
    for mechanism, token in (
        ("PLAIN", b"\0alice\0" + b"x" * size),
        ("SCRAM-SHA-256", b"n,,n=" + b"a" * size + b",r=abcdef"),
        ("SCRAM-SHA-256", b"n,,n=alice,r=" + b"a" * size),
        ("SCRAM-SHA-256", b"n,,n=alice,r=abcdef" + b",a=b" * (size // 4)),
        ("OAUTHBEARER", first_message("a" * size)),
    ) * 5:
        with a_login(samsa) as login:
            login.shake(mechanism)
            assert login.is_refused(token)
        with a_login(samsa) as login:
            login.shake(mechanism)
            # The broker closes before all of it was sent.
            with suppress(BrokenPipeError, ConnectionResetError):
                login.peer.send(
                    ApiKey.SASL_AUTHENTICATE, 2, sasl_authenticate.REQUEST(auth_bytes=token * 2)
                )
            with suppress(BrokenPipeError):
                assert login.peer.is_closed()


# Tokens of OAUTHBEARER


def _unsigned(header: dict[str, Any], **claims: Any) -> str:
    return f"{part(header)}.{part(issuer().claims(**claims))}."


def _by_the_public_key() -> str:
    """Signed by HMAC, with what everybody knows for a secret."""
    secret = OctKey.import_key(json.dumps(issuer().keys[0].as_dict(private=False)).encode())
    return jwt.encode({"alg": "HS256", "kid": "one"}, issuer().claims(), secret)


def _forged() -> dict[str, str]:
    good = issuer()
    now = int(time.time())
    head, claims, signature = good.token().split(".")
    return {
        "another audience": good.token(aud="another"),
        "another issuer": good.token(iss="https://another.example"),
        "expired": good.token(exp=now - 60),
        "not valid yet": good.token(nbf=now + 600),
        "no end": good.token(exp=None),
        "alg: none": _unsigned({"alg": "none", "kid": "one"}),
        "alg: None": _unsigned({"alg": "None"}),
        "the public key as a secret": _by_the_public_key(),
        "a key of another": good.token(good.new_key("one")),
        "a key that nobody knows": good.token(good.new_key("unknown")),
        "another name": f"{head}.{part(good.claims(sub='admin'))}.{signature}",
        "no signature": f"{head}.{claims}.",
        "a long name of a key": _unsigned({"alg": "ES256", "kid": "k" * 10_000}) + "AAAA",
        "an odd name of a key": _unsigned({"alg": "ES256", "kid": {"a": [1]}}) + "AAAA",
        "a header that brings its key": _unsigned(
            {"alg": "ES256", "jwk": good.keys[0].as_dict(private=False), "jku": "http://[::1]/"}
        )
        + "AAAA",
        "nested": part({"alg": "ES256"}) + "." + "W1tb" * 3_500 + ".AAAA",
        "a name of two lines": good.token(sub="eve\nlogin principal=User:admin", aud="another"),
    }


def forged_tokens(samsa: Samsa) -> None:
    for what, token in list(_forged().items()) * 10:
        with a_login(samsa) as login:
            login.shake("OAUTHBEARER")
            assert login.is_refused(first_message(token)), what
    with a_login(samsa) as login:
        login.shake("OAUTHBEARER")
        assert login.token(first_message(issuer().token())).error_code == ErrorCode.NONE
    assert not any(line.startswith("login ") for line in samsa.logged())
