"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), the server's side, as Kafka speaks them.

Names and passwords are UTF-8 and are taken as they are: Kafka's clients and its broker leave out
SASLprep, and a broker that did not would refuse the passwords that SASLprep changes. There is no
channel binding (`n` only) and no delegation token; extensions are ignored.

A user that does not exist is treated as one with a wrong password: it gets a salt, always the same
one, and is refused after its proof, by the same sentence and after the same work (`stand_ins.py`).
"""

import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple, Self

from .principals import USER, Principal
from .results import MOST_BYTES, Authenticated, Challenge, LoginRefused, Result, shown

FEWEST_ITERATIONS = 4096
MOST_ITERATIONS = 16384


class ScramMechanism(IntEnum):
    """With the numbers of AlterUserScramCredentials."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls(0) if isinstance(value, int) and value else None

    @classmethod
    def of(cls, sasl_name: str) -> "ScramMechanism":
        return _BY_NAME.get(sasl_name, ScramMechanism.UNKNOWN)

    @property
    def sasl_name(self) -> str:
        return self.name.replace("_", "-")

    @property
    def digest(self) -> str:
        """As hashlib calls it."""
        return "sha512" if self is ScramMechanism.SCRAM_SHA_512 else "sha256"

    @property
    def digest_bytes(self) -> int:
        return 64 if self is ScramMechanism.SCRAM_SHA_512 else 32


_BY_NAME = {
    mechanism.sasl_name: mechanism
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
}


class ScramCredential(NamedTuple):
    """What a server keeps of a password. The stored key does not suffice to log in, but passwords
    can be tried against it: it is a secret."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int
    mechanism: ScramMechanism

    @classmethod
    def from_password(
        cls, password: str, salt: bytes, iterations: int, mechanism: ScramMechanism
    ) -> Self:
        salted = salted_password(password, salt, iterations, mechanism)
        return cls.from_salted_password(salted, salt, iterations, mechanism)

    @classmethod
    def from_salted_password(
        cls, salted: bytes, salt: bytes, iterations: int, mechanism: ScramMechanism
    ) -> Self:
        """As AlterUserScramCredentials has it: the client has salted it."""
        client_key = _hmac(salted, b"Client Key", mechanism)
        stored_key = hashlib.new(mechanism.digest, client_key).digest()
        server_key = _hmac(salted, b"Server Key", mechanism)
        return cls(salt, stored_key, server_key, iterations, mechanism)

    def fits(self, password: str) -> bool:
        """Takes milliseconds."""
        other = self.from_password(password, self.salt, self.iterations, self.mechanism)
        return hmac.compare_digest(other.stored_key, self.stored_key)

    def __repr__(self) -> str:
        return f"ScramCredential({self.mechanism.sasl_name}, iterations={self.iterations})"


CredentialOf = Callable[[str, ScramMechanism], ScramCredential | None]
"""The credential of a user for a mechanism, from memory."""
StandInOf = Callable[[str, str], ScramCredential]
"""The credential that takes the place of one that a user has not, for a SASL mechanism
(`stand_ins.py`)."""


def salted_password(
    password: str, salt: bytes, iterations: int, mechanism: ScramMechanism
) -> bytes:
    return hashlib.pbkdf2_hmac(mechanism.digest, password.encode(), salt, iterations)


def problem_with_credential(
    user: str, mechanism: ScramMechanism, iterations: int
) -> tuple[str, str] | None:
    """Why Kafka's AlterUserScramCredentials refuses to store it: the name of the error, and the
    sentence beside it."""
    if not user:
        return "UNACCEPTABLE_CREDENTIAL", "Username must not be empty"
    if mechanism is ScramMechanism.UNKNOWN:
        return "UNSUPPORTED_SASL_MECHANISM", "Unknown SCRAM mechanism"
    if iterations < FEWEST_ITERATIONS:
        return "UNACCEPTABLE_CREDENTIAL", "Too few iterations"
    if iterations > MOST_ITERATIONS:
        return "UNACCEPTABLE_CREDENTIAL", "Too many iterations"
    return None


_NAME = rb"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f\x80-\xff]|=2C|=3D)+"
_VALUE = rb"[\x01-\x2b\x2d-\x7f\x80-\xff]+"
_PRINTABLE = rb"[\x21-\x2b\x2d-\x7e]+"
_BASE64 = rb"[a-zA-Z0-9/+]*={0,2}"
_EXTENSIONS = rb"(?:,[A-Za-z]+=" + _VALUE + rb")*"
_CLIENT_FIRST = re.compile(
    rb"n,(?:a=(?P<authzid>" + _NAME + rb"))?,"
    rb"(?P<bare>n=(?P<name>" + _NAME + rb"),r=(?P<nonce>" + _PRINTABLE + rb")" + _EXTENSIONS + rb")"
)  # fmt: skip
_CLIENT_FINAL = re.compile(
    rb"(?P<unproven>c=(?P<channel>" + _BASE64 + rb"),r=(?P<nonce>" + _PRINTABLE + rb")"
    + _EXTENSIONS + rb"),p=(?P<proof>" + _BASE64 + rb")"
)  # fmt: skip


class ScramExchange:
    def __init__(
        self,
        mechanism: ScramMechanism,
        credential_of: CredentialOf,
        nonce: str,
        stand_in_of: StandInOf,
    ) -> None:
        self._mechanism = mechanism
        self._credential_of = credential_of
        self._nonce = nonce.encode()
        self._stand_in_of = stand_in_of
        self._next: Callable[[bytes], Result] = self._client_first

    def step(self, token: bytes) -> Result:
        if len(token) > MOST_BYTES:
            result: Result = LoginRefused(f"a token of {len(token)} bytes")
        else:
            result = self._next(token)
        if not isinstance(result, Challenge):
            self._next = _over
        return result

    def _client_first(self, token: bytes) -> Result:
        match = _CLIENT_FIRST.fullmatch(token)
        if match is None:
            return LoginRefused("not a first message of SCRAM")
        try:
            self._user = _unescaped(match["name"])
            acts_as = _unescaped(match["authzid"] or b"")
        except UnicodeDecodeError:
            return LoginRefused("a user's name that is not UTF-8")
        if acts_as not in ("", self._user):
            return LoginRefused(
                f"{shown(self._user)} asks to act as {shown(acts_as)}",
                "Authentication failed: Client requested an authorization id that is different "
                "from username",
            )
        found = self._credential_of(self._user, self._mechanism)
        # Made for every user, so that the time does not tell whether the user exists.
        other = self._stand_in_of(self._user, self._mechanism.sasl_name)
        self._exists = found is not None
        self._credential = found or other
        return self._server_first(match)

    def _server_first(self, match: re.Match[bytes]) -> Result:
        credential = self._credential
        self._header = _header(match)
        self._nonces = match["nonce"] + self._nonce
        reply = b"r=%s,s=%s,i=%d" % (
            self._nonces, b64encode(credential.salt), credential.iterations
        )  # fmt: skip
        self._said = match["bare"] + b"," + reply
        self._next = self._client_final
        return Challenge(reply)

    def _client_final(self, token: bytes) -> Result:
        match = _CLIENT_FINAL.fullmatch(token)
        if match is None:
            return LoginRefused("not a final message of SCRAM")
        try:
            channel = b64decode(match["channel"], validate=True)
            proof = b64decode(match["proof"], validate=True)
        except NotBase64:
            return LoginRefused("not Base64 in the final message of SCRAM")
        # Ends with it, as in Kafka: librdkafka before 2.2 puts its own nonce in front once more.
        if not match["nonce"].endswith(self._nonces):
            return LoginRefused(f"{shown(self._user)} answers to another nonce")
        if channel != self._header:
            return LoginRefused(f"{shown(self._user)} changed the header of the first message")
        return self._verified(self._said + b"," + match["unproven"], proof)

    def _verified(self, said: bytes, proof: bytes) -> Result:
        credential = self._credential
        signature = _hmac(credential.stored_key, said, self._mechanism)
        if len(proof) != len(signature):
            proof = bytes(len(signature))
        client_key = _xor(signature, proof)
        stored_key = hashlib.new(self._mechanism.digest, client_key).digest()
        fits = hmac.compare_digest(stored_key, credential.stored_key)
        ours = _hmac(credential.server_key, said, self._mechanism)
        if not self._exists:
            return LoginRefused(f"no user {shown(self._user)} with {self._mechanism.sasl_name}")
        if not fits:
            return LoginRefused(f"a wrong password of {shown(self._user)}")
        return Authenticated(Principal(USER, self._user), b"v=" + b64encode(ours))


def _xor(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one) ^ int.from_bytes(other)).to_bytes(len(one))


def _header(match: re.Match[bytes]) -> bytes:
    """The part of the first message that the final one repeats, so that it cannot be changed."""
    return match.string[: match.start("bare")]


def _over(token: bytes) -> Result:  # noqa: ARG001
    return LoginRefused("a token after the end of the exchange")


def _unescaped(name: bytes) -> str:
    return name.replace(b"=2C", b",").replace(b"=3D", b"=").decode()


def _hmac(key: bytes, message: bytes, mechanism: ScramMechanism) -> bytes:
    return hmac.digest(key, message, mechanism.digest)
