"""Logins by HTTP that were verified a short time ago: each request brings its credentials, and to
hash a password thousands of times for each would be most of what a request costs.

The credentials are not kept, but a code of them (an HMAC; its key is made by this process and never
leaves it). A password counts only for as long as the SCRAM credential that it was
checked against is the current one, and a token until it expires.
"""

import hmac
import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

from samsa.bounded import Bounded
from samsa.security.principals import Principal
from samsa.security.scram import ScramCredential

MOST = 1_000
GOOD_FOR_S = 60.0
"""Then they are verified again, and a token's key that was withdrawn ends."""


class VerifiedLogin(NamedTuple):
    principal: Principal
    credential: ScramCredential | None
    """Of a password: what it was checked against."""
    expires_ms: int | None
    """Of a token."""
    until_s: float


class VerifiedLogins:
    def __init__(
        self, now_ms: Callable[[], int], now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._now_ms = now_ms
        self._now_s = now_s
        self._key = secrets.token_bytes(32)
        self._kept: Bounded[bytes, VerifiedLogin] = Bounded(MOST)

    def keep(
        self,
        authorization: str,
        principal: Principal,
        credential: ScramCredential | None = None,
        expires_ms: int | None = None,
    ) -> None:
        until_s = self._now_s() + GOOD_FOR_S
        login = VerifiedLogin(principal, credential, expires_ms, until_s)
        self._kept.keep(self._code(authorization), login)

    def find(
        self, authorization: str, credential: ScramCredential | None = None
    ) -> Principal | None:
        """`credential`: the current one of the user that the header names."""
        code = self._code(authorization)
        found = self._kept.use(code)
        if found is None:
            return None
        has_expired = found.expires_ms is not None and self._now_ms() >= found.expires_ms
        if has_expired or self._now_s() >= found.until_s or found.credential != credential:
            del self._kept[code]
            return None
        return found.principal

    def _code(self, authorization: str) -> bytes:
        return hmac.digest(self._key, authorization.encode("utf-8", "surrogatepass"), "sha256")
