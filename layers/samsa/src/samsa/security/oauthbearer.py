"""OAUTHBEARER (RFC 7628): the client shows a token that an issuer has signed, a JWT.

A callable that is handed in checks the signature. This module checks the token's claims: issuer,
audience, times, scopes and subject. A broker shares no secrets with issuers: `none` and
the symmetric algorithms are refused first, so that a public key is never taken for a secret.
"""

import json
import re
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .principals import USER, Principal
from .results import MOST_BYTES, Authenticated, Challenge, LoginRefused, Result, shown

ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""Signature algorithms with a public key."""
MOST_TOKEN_BYTES = 16 * 1024
SKEW_MS = 30_000
"""How far the clocks of issuer and broker may be apart. Kafka's default."""

Claims = Mapping[str, Any]
Verify = Callable[[str, Claims], bool]
"""Whether the signature of a token (header.payload.signature) is right, by its header (`alg` and
`kid`). It does not raise: a key that cannot be had is a signature that is not right. It may wait
for keys, as a step of an exchange runs beside the event loop."""


class TokenRules(NamedTuple):
    verify: Verify
    issuer: str | None = None
    audiences: frozenset[str] = frozenset()
    """A token for any of them is taken. Empty: whatever it is for."""
    scopes: frozenset[str] = frozenset()
    """All of them are required."""
    principal_claim: str = "sub"
    scope_claim: str = "scope"
    skew_ms: int = SKEW_MS


class Token(NamedTuple):
    name: str
    expires_ms: int
    scopes: frozenset[str]


class InvalidToken(ValueError):
    """The text says what is wrong with a token. Of its content it has only names."""


_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_PAIR = r"[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01"
_FIRST = re.compile(rf"n,(?:a=(?P<authzid>{_NAME}))?,\x01(?P<pairs>(?:{_PAIR})*)\x01")
_BEARER = re.compile(r"(?i:bearer) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)")
_URL_SAFE = re.compile(r"[-_A-Za-z0-9]+")
_NOT_FIRST = "not a first message of OAUTHBEARER"
_GIVES_UP = b"\x01"
_INVALID = b'{"status":"invalid_token"}'


class OAuthBearerExchange:
    """One token in, its principal out. A refused token is answered with JSON, which the client
    confirms before the login fails."""

    def __init__(self, rules: TokenRules, now_ms: Callable[[], int]) -> None:
        self._rules = rules
        self._now_ms = now_ms
        self._next: Callable[[bytes], Result] = self._first

    def step(self, token: bytes) -> Result:
        if len(token) > MOST_BYTES:
            result: Result = LoginRefused(f"a token of {len(token)} bytes")
        else:
            result = self._next(token)
        if not isinstance(result, Challenge):
            self._next = _over
        return result

    def _first(self, message: bytes) -> Result:
        try:
            acts_as, compact = first_message(message)
            token = validated(compact, self._rules, self._now_ms())
        except _Malformed as error:
            return LoginRefused(str(error))
        except InvalidToken as error:
            why = str(error)
            self._next = lambda _: LoginRefused(why, _INVALID.decode())
            return Challenge(_INVALID)
        if acts_as not in ("", token.name):
            name, other = shown(token.name), shown(acts_as)
            return LoginRefused(
                f"{name} asks to act as {other}",
                f"Authentication failed: Client requested an authorization id ({other}) that is "
                f"different from the token's principal name ({name})",
            )
        return Authenticated(Principal(USER, token.name), b"", token.expires_ms)


class BearerExchange:
    """The same token as HTTP has it: alone, in one step."""

    def __init__(self, rules: TokenRules, now_ms: Callable[[], int]) -> None:
        self._rules = rules
        self._now_ms = now_ms

    def step(self, token: bytes) -> Result:
        try:
            found = validated(token.decode("ascii"), self._rules, self._now_ms())
        except UnicodeDecodeError:
            return LoginRefused("not a JWT")
        except InvalidToken as error:
            return LoginRefused(str(error))
        return Authenticated(Principal(USER, found.name), b"", found.expires_ms)


def _over(token: bytes) -> Result:  # noqa: ARG001
    return LoginRefused("a token after the end of the exchange")


class _Malformed(ValueError):
    pass


def first_message(message: bytes) -> tuple[str, str]:
    """The user that the client asks to act as (or nothing), and its token. Its extensions are
    ignored."""
    try:
        match = _FIRST.fullmatch(message.decode("ascii"))
    except UnicodeDecodeError:
        raise _Malformed(_NOT_FIRST) from None
    if match is None:
        raise _Malformed(_NOT_FIRST)
    pairs = [pair.split("=", 1) for pair in match["pairs"].split("\x01")[:-1]]
    auths = [value for key, value in pairs if key == "auth"]
    bearer = _BEARER.fullmatch(auths[0]) if len(auths) == 1 else None
    if bearer is None:
        raise _Malformed(f"{_NOT_FIRST}: no bearer token")
    acts_as = (match["authzid"] or "").replace("=2C", ",").replace("=3D", "=")
    return acts_as, bearer["token"]


def validated(compact: str, rules: TokenRules, now_ms: int) -> Token:
    """The bearer of the token, and when it expires. Raises InvalidToken."""
    if len(compact) > MOST_TOKEN_BYTES:
        raise InvalidToken(f"a token of {len(compact)} bytes")
    parts = compact.split(".")
    if len(parts) != 3:
        raise InvalidToken("not a signed JWT")
    header, claims = _json(parts[0]), _json(parts[1])
    _check_header(header)
    if not rules.verify(compact, header):
        raise InvalidToken("its signature is not right")
    expires_ms = _check_times(claims, rules, now_ms)
    _check_origin(claims, rules)
    return Token(_name(claims, rules), expires_ms, _check_scopes(claims, rules))


def _json(part: str) -> dict[str, Any]:
    if _URL_SAFE.fullmatch(part) is None:
        raise InvalidToken("not a JWT")
    try:
        found = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (NotBase64, ValueError, RecursionError):
        raise InvalidToken("not a JWT") from None
    if not isinstance(found, dict):
        raise InvalidToken("not a JWT")
    return found


def _check_header(header: Claims) -> None:
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise InvalidToken("an algorithm without a public key, or an unknown one")
    if "crit" in header:
        raise InvalidToken("it demands an extension that is not known here")


def _check_times(claims: Claims, rules: TokenRules, now_ms: int) -> int:
    expires_ms = _time(claims, "exp")
    if expires_ms is None:
        raise InvalidToken("it does not say when it expires")
    if now_ms >= expires_ms + rules.skew_ms:
        raise InvalidToken("it has expired")
    for claim in ("nbf", "iat"):
        since = _time(claims, claim)
        if since is not None and now_ms < since - rules.skew_ms:
            raise InvalidToken(f"it is not valid yet ({claim})")
    return expires_ms


def _time(claims: Claims, claim: str) -> int | None:
    value = claims.get(claim)
    if value is None:
        return None
    # No time of this millennium is out of this range, and neither NaN nor infinity is in it.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**36:
        raise InvalidToken(f"its {claim} is not a time")
    return int(value * 1000)


def _check_origin(claims: Claims, rules: TokenRules) -> None:
    if rules.issuer is not None and claims.get("iss") != rules.issuer:
        raise InvalidToken("another issuer")
    if rules.audiences and not rules.audiences & _words(claims, "aud", separator=None):
        raise InvalidToken("another audience")


def _check_scopes(claims: Claims, rules: TokenRules) -> frozenset[str]:
    scopes = _words(claims, rules.scope_claim, separator=" ")
    if not rules.scopes <= scopes:
        raise InvalidToken("a scope is missing")
    return scopes


def _words(claims: Claims, claim: str, separator: str | None) -> frozenset[str]:
    """A claim that is one string or a list of them; a string may have several words."""
    value = claims.get(claim)
    if isinstance(value, str):
        words: list[Any] = [value] if separator is None else value.split(separator)
    elif isinstance(value, list):
        words = value
    else:
        words = []
    return frozenset(word for word in words if isinstance(word, str) and word)


def _name(claims: Claims, rules: TokenRules) -> str:
    name = claims.get(rules.principal_claim)
    if not isinstance(name, str) or not name.strip():
        raise InvalidToken(f"it has no claim {rules.principal_claim}")
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InvalidToken(f"its {rules.principal_claim} is not Unicode text")
    return name
