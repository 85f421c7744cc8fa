"""How the commands reach a broker that wants TLS or a login: settings, in a file.

The file has lines of NAME=VALUE, with the names of librdkafka: what `samsa up --secure` prints for
it can be pasted. So the password is not among the arguments, which all users of a machine can see.
"""

import hmac
import os
import ssl
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from samsa.security.scram import (
    FEWEST_ITERATIONS,
    MOST_ITERATIONS,
    ScramCredential,
    ScramMechanism,
    salted_password,
)

PROTOCOLS = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
NAMES = frozenset(
    {
        "bootstrap.servers",
        "security.protocol",
        "ssl.ca.location",
        "ssl.certificate.location",
        "ssl.key.location",
        "sasl.mechanism",
        "sasl.mechanisms",
        "sasl.username",
        "sasl.password",
    }
)
NONCE_BYTES = 24
Authenticate = Callable[[bytes], bytes]
"""Sends what the client says in a SASL exchange, and returns what the server says."""


class BadLogin(Exception):
    """What is wrong with the settings, or with what the broker answered to them."""


@dataclass(frozen=True, slots=True)
class ClientLogin:
    protocol: str = "plaintext"
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    mechanism: str = ""
    user: str = ""
    password: str = ""

    @property
    def has_tls(self) -> bool:
        return self.protocol.endswith("ssl")

    @property
    def has_sasl(self) -> bool:
        return self.protocol.startswith("sasl")

    def __repr__(self) -> str:
        return f"ClientLogin({self.protocol}, {self.mechanism}, {self.user})"

    def tls(self) -> ssl.SSLContext:
        """Raises OSError."""
        context = ssl.create_default_context(cafile=self.ca)
        if self.certificate is not None:
            context.load_cert_chain(self.certificate, self.key)
        return context

    def authenticate(self, send: Authenticate) -> None:
        """Raises BadLogin."""
        if self.mechanism == "PLAIN":
            send(f"\0{self.user}\0{self.password}".encode())
        else:
            _scram(self, ScramMechanism.of(self.mechanism), send)


def read_login(path: str) -> ClientLogin:
    """Raises BadLogin; OSError."""
    given = dict(_pairs(Path(path).read_text()))
    unknown = sorted(given.keys() - NAMES)
    if unknown:
        raise BadLogin(f"{path}: {unknown[0]!r} is none of {', '.join(sorted(NAMES))}")
    login = ClientLogin(
        given.get("security.protocol", "plaintext").lower(),
        given.get("ssl.ca.location"),
        given.get("ssl.certificate.location"),
        given.get("ssl.key.location"),
        given.get("sasl.mechanism", given.get("sasl.mechanisms", "")).upper(),
        given.get("sasl.username", ""),
        given.get("sasl.password", ""),
    )
    if login.protocol not in PROTOCOLS:
        raise BadLogin(f"{path}: security.protocol is one of {', '.join(PROTOCOLS)}")
    known = login.mechanism == "PLAIN" or ScramMechanism.of(login.mechanism)
    if login.has_sasl and not known:
        raise BadLogin(f"{path}: sasl.mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
    return login


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            yield name.strip(), value.strip()


def _scram(login: ClientLogin, mechanism: ScramMechanism, send: Authenticate) -> None:
    """RFC 5802. The server shows that it knows the password, too."""
    nonce = b64encode(os.urandom(NONCE_BYTES)).decode()
    name = login.user.replace("=", "=3D").replace(",", "=2C")
    bare = f"n={name},r={nonce}"
    first = send(f"n,,{bare}".encode()).decode(errors="replace")
    salt, iterations, both = _challenge(first, nonce)
    salted = salted_password(login.password, salt, iterations, mechanism)
    credential = ScramCredential.from_salted_password(salted, salt, iterations, mechanism)
    unproven = f"c=biws,r={both}"
    message = f"{bare},{first},{unproven}".encode()
    client_key = hmac.digest(salted, b"Client Key", mechanism.digest)
    signature = hmac.digest(credential.stored_key, message, mechanism.digest)
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    last = send(f"{unproven},p={b64encode(proof).decode()}".encode()).decode(errors="replace")
    expected = hmac.digest(credential.server_key, message, mechanism.digest)
    if last.partition(",")[0] != f"v={b64encode(expected).decode()}":
        raise BadLogin("the broker did not show that it knows the password")


def _challenge(first: str, nonce: str) -> tuple[bytes, int, str]:
    try:
        parts = dict(part.split("=", 1) for part in first.split(","))
        salt, iterations, both = b64decode(parts["s"], validate=True), int(parts["i"]), parts["r"]
    except (ValueError, KeyError) as error:
        raise BadLogin("the broker's answer is not one of SCRAM") from error
    if not both.startswith(nonce) or not FEWEST_ITERATIONS <= iterations <= MOST_ITERATIONS:
        raise BadLogin("the broker's answer is not to what was asked")
    return salt, iterations, both
