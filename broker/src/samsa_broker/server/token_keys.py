"""The keys that sign tokens (JWKS, RFC 7517), from a URL or a file.

They are read when the first token comes and after `REFRESH_S`, so that a withdrawn key ends. They
are read again when a token names a key that is not among them, or names none and no key fits, but
not more often than every `SELDOM_S`. While they cannot be read, the last ones stay. Everything here
waits, so it runs in a thread of logins.

Fields of a token's header that are not known are ignored (RFC 7515, section 4), but for `crit`.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import HTTPRedirectHandler, Request, build_opener

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from samsa.runtime.logs import Repeated, event
from samsa.security.oauthbearer import ALGORITHMS, MOST_TOKEN_BYTES

log = logging.getLogger("samsa.server")
SELDOM_S = 10.0
REFRESH_S = 3_600.0
TIMEOUT_S = 5.0
"""For all of an answer, however slowly it comes."""
WAIT_S = 2 * TIMEOUT_S
"""For a read that another login has begun."""
MOST_BYTES = 1024 * 1024
AT_ONCE = 64 * 1024
MOST_KEYS = 100
HTTP = ("http://", "https://")
KINDS = ("RSA", "EC", "OKP")
PUBLIC = (RSAKey, ECKey, OKPKey)
Key = RSAKey | ECKey | OKPKey


class TokenKeys:
    def __init__(self, source: str, now_s: Callable[[], float] = time.monotonic) -> None:
        self.reads = 0
        self._source = source
        self._now_s = now_s
        self._keys: list[Key] = []
        self._read_at: float | None = None
        self._turn = threading.Lock()
        self._failures = Repeated(log, logging.ERROR, "the keys of tokens cannot be read")

    def verify(self, compact: str, header: Mapping[str, Any]) -> bool:
        """Whether one of the keys has signed the token."""
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            return False
        if self._is_older_than(REFRESH_S):
            self._refresh(REFRESH_S)
        tried = self._keys
        if self._has_signed(compact, header):
            return True
        if header.get("kid") is None or not self._named(header["kid"]):
            self._refresh(SELDOM_S)
        return self._keys is not tried and self._has_signed(compact, header)

    def _has_signed(self, compact: str, header: Mapping[str, Any]) -> bool:
        """The key that the token names; any of them if it names none."""
        kid = header.get("kid")
        candidates = self._keys if kid is None else self._named(kid)
        return any(_fits(compact, header["alg"], key) for key in candidates)

    def _named(self, kid: Any) -> list[Key]:
        return [key for key in self._keys if key.kid == kid]

    def _is_older_than(self, seconds: float) -> bool:
        return self._read_at is None or self._now_s() - self._read_at >= seconds

    def _refresh(self, older_than_s: float) -> None:
        if not self._turn.acquire(timeout=WAIT_S):
            return
        try:  # other logins wait for it, and then find that it is done
            if self._is_older_than(min(older_than_s, REFRESH_S)):
                self._read()
        finally:
            self._turn.release()

    def _read(self) -> None:
        self._read_at = self._now_s()
        self.reads += 1
        try:
            self._keys = _public_keys(_content(self._source))
        except (OSError, ValueError, JoseError, HTTPException) as error:
            self._failures.happened(source=self._source, why=error)
        else:
            event(log, logging.INFO, "keys of tokens", source=self._source, n=len(self._keys))


class _Lenient(JWSRegistry):
    """Ignores unknown fields of a header, and takes certificates in it (`x5c`)."""

    max_header_length = MOST_TOKEN_BYTES


def _fits(compact: str, algorithm: str, key: Key) -> bool:
    """The algorithm that the key names; if it names none, that of its type."""
    said = key.as_dict(private=False)
    if said.get("use", "sig") != "sig" or said.get("alg", algorithm) != algorithm:
        return False
    registry = _Lenient(algorithms=[algorithm], strict_check_header=False)
    try:
        jws.deserialize_compact(compact, key, registry=registry)
    except (JoseError, ValueError, TypeError):
        return False
    return True


class _StaysWithTls(HTTPRedirectHandler):
    """An answer without TLS may be forged: the keys in it must not decide on logins."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        if not newurl.startswith("https://" if req.type == "https" else HTTP):
            raise OSError(f"it redirects to {newurl[:100]}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_opener = build_opener(_StaysWithTls)


def _content(source: str) -> bytes:
    """Raises OSError and ValueError."""
    if not source.startswith(HTTP):
        return Path(source.removeprefix("file://")).read_bytes()
    deadline = time.monotonic() + TIMEOUT_S
    found = bytearray()
    with _opener.open(source, timeout=TIMEOUT_S) as answer:
        while more := answer.read1(AT_ONCE):
            found += more
            if len(found) > MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES} bytes")
            if time.monotonic() > deadline:
                raise TimeoutError(f"not read within {TIMEOUT_S:.0f} s")
    return bytes(found)


def _public_keys(content: bytes) -> list[Key]:
    """Keys that sign by a public key. Others are left out: those of a kind that is not known, and
    those that are not whole. Raises ValueError."""
    try:
        found = json.loads(content)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(found, dict) or not isinstance(found.get("keys"), list):
        raise ValueError("not a JSON Web Key Set")
    known = [key for key in found["keys"] if isinstance(key, dict) and key.get("kty") in KINDS]
    keys = list(_whole(known[:MOST_KEYS]))
    if known and not keys:
        raise ValueError("no key is whole")
    return keys


def _whole(found: list[dict[str, Any]]) -> Iterator[Key]:
    for each in found:
        with suppress(JoseError, ValueError, TypeError, KeyError):
            keys = KeySet.import_key_set({"keys": [each]}).keys
            yield from (key for key in keys if isinstance(key, PUBLIC))
