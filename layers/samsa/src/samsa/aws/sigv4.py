"""AWS Signature Version 4, by the standard library alone.

A signature is a chain of HMACs, of which all but the last depend only on the day, the region and
the service: that key is kept. What time it is, is handed in.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import quote

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
UNRESERVED = "-_.~"


class Keys(NamedTuple):
    """What a request is signed with."""

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
    ) -> dict[str, str]:
        """The headers, named in lower case, with those that sign them. `when` is as in `stamp`."""
        signed = {**headers, "x-amz-date": when}
        if keys.token:
            signed["x-amz-security-token"] = keys.token
        names, lines = _canonical(signed)
        # The path is encoded once more than it is sent; all services but S3 have it so.
        encoded = path if path == "/" else quote(path, safe="/" + UNRESERVED)
        asked = f"{method}\n{encoded}\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
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
        """The query of a URL that whoever has it may use for so long; the body is not signed. The
        path is as it is sent: S3 has it signed like that."""
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
        digest = sha256(asked.encode()).hexdigest()
        text = f"{ALGORITHM}\n{when}\n{self._scope(when)}\n{digest}"
        return hmac.digest(self._key(keys, when[:8]), text.encode(), "sha256").hex()

    def _key(self, keys: Keys, day: str) -> bytes:
        secret, of_day, key = self._kept
        if (secret, of_day) != (keys.secret_key, day):
            key = f"AWS4{keys.secret_key}".encode()
            for part in (day, self._region, self._service, "aws4_request"):
                key = hmac.digest(key, part.encode(), "sha256")
            self._kept = keys.secret_key, day, key
        return key


def _canonical(headers: Mapping[str, str]) -> tuple[str, str]:
    """The names of signed headers, and their lines."""
    ordered = sorted(headers)
    return ";".join(ordered), "".join([f"{name}:{headers[name]}\n" for name in ordered])
