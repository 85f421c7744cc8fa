"""AWS Signature Version 4, with the standard library alone.

A signature is a chain of HMACs. All but the last depend only on the secret, the day, the region and
the service, so that key is cached. The caller passes the time.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
UNRESERVED = "-_.~"


class Keys(NamedTuple):
    """The keys that sign a request."""

    access_key: str
    secret_key: str
    token: str = ""
    """Only temporary keys have one."""


class Signer:
    """For one service in one region."""

    def __init__(self, service: str, region: str) -> None:
        self._service = service
        self._region = region
        self._kept: tuple[str, str, bytes] = ("", "", b"")

    def headers(
        self,
        keys: Keys,
        when: str,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        query: str = "",
    ) -> dict[str, str]:
        """The headers and those of the signature. Names are in lower case; `when` is a `stamp`;
        `query` is encoded and sorted (`sorted_query`)."""
        signed = {**headers, "x-amz-date": when}
        if keys.token:
            signed["x-amz-security-token"] = keys.token
        names, lines = _canonical(signed)
        # All services except S3 sign the path encoded once more than it is sent.
        encoded = path if path == "/" else quote(path, safe="/" + UNRESERVED)
        asked = f"{method}\n{encoded}\n{query}\n{lines}\n{names}\n{sha256(body).hexdigest()}"
        signature = self._sign(keys, when, asked)
        signed["authorization"] = (
            f"{ALGORITHM} Credential={keys.access_key}/{self._scope(when)}, "
            f"SignedHeaders={names}, Signature={signature}"
        )
        return signed

    def query(
        self,
        keys: Keys,
        when: str,
        method: str,
        path: str,
        headers: Mapping[str, str],
        expires_s: int,
    ) -> str:
        """The query of a presigned URL, valid for `expires_s`. The body is not signed. The path is
        signed as it is sent, as S3 requires."""
        names, lines = _canonical(headers)
        given = {
            "X-Amz-Algorithm": ALGORITHM,
            "X-Amz-Credential": f"{keys.access_key}/{self._scope(when)}",
            "X-Amz-Date": when,
            "X-Amz-Expires": str(expires_s),
            "X-Amz-Security-Token": keys.token,
            "X-Amz-SignedHeaders": names,
        }
        query = "&".join(f"{n}={quote(v, safe=UNRESERVED)}" for n, v in given.items() if v)
        asked = f"{method}\n{path}\n{query}\n{lines}\n{names}\n{UNSIGNED}"
        return f"{query}&X-Amz-Signature={self._sign(keys, when, asked)}"

    def _scope(self, when: str) -> str:
        return f"{when[:8]}/{self._region}/{self._service}/aws4_request"

    def _sign(self, keys: Keys, when: str, asked: str) -> str:
        return signature(self._key(keys, when), when, self._scope(when), asked)

    def _key(self, keys: Keys, when: str) -> bytes:
        secret, of_day, key = self._kept
        if (secret, of_day) != (keys.secret_key, when[:8]):
            key = signing_key(keys.secret_key, self._scope(when))
            self._kept = keys.secret_key, when[:8], key
        return key


def signing_key(secret: str, scope: str) -> bytes:
    """`scope` is day, region, service and `aws4_request`, between slashes."""
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def signature(key: bytes, when: str, scope: str, asked: str) -> str:
    """The signature of a canonical request."""
    text = f"{ALGORITHM}\n{when}\n{scope}\n{sha256(asked.encode()).hexdigest()}"
    return hmac.digest(key, text.encode(), "sha256").hex()


def sorted_query(query: str) -> str:
    """The query as signatures need it: decoded, encoded in one way, and sorted. The signature
    itself is left out."""
    pairs = parse_qsl(query, keep_blank_values=True)
    encoded = [(quote(n, safe=UNRESERVED), quote(v, safe=UNRESERVED)) for n, v in pairs]
    return "&".join(f"{n}={v}" for n, v in sorted(encoded) if n != "X-Amz-Signature")


def _canonical(headers: Mapping[str, str]) -> tuple[str, str]:
    """The names of the signed headers, and their lines, in canonical form."""
    ordered = sorted(headers)
    return ";".join(ordered), "".join([f"{name}:{headers[name]}\n" for name in ordered])
