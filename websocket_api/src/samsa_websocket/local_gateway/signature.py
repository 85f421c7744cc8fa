"""Verifies Signature Version 4: which key signed a request, and whether it was changed since.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import hashlib
import hmac
import re
import time
from calendar import timegm
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote

from samsa.aws.sigv4 import ALGORITHM, signature, signing_key, sorted_query

SERVICE, S3 = "execute-api", "s3"
SKEW_S = 5 * 60
LASTS = re.compile("[0-9]{1,6}")
HEADER = re.compile(rf"{ALGORITHM} +Credential=([^, ]+), *SignedHeaders=([^, ]+), *Signature=(\w+)")


class SignatureRefused(Exception):
    """With API Gateway's message; the status is always 403."""


@dataclass(frozen=True, slots=True)
class SignedRequest:
    method: str
    path: str
    """As it was sent, still encoded."""
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes = b""
    service: str = SERVICE
    payload: str | None = None
    """What was signed in place of the body's hash."""


@dataclass(frozen=True, slots=True)
class Signed:
    access_key: str
    scope: str
    signed_headers: str
    signature: str
    date: str
    lasts_s: int


def verify(request: SignedRequest, keys: Mapping[str, str], now: float) -> str:
    """The access key that signed it. `keys` holds the secrets by access key."""
    signed = _of_query(request) or _of_headers(request)
    if signed is None:
        raise SignatureRefused("Missing Authentication Token")
    secret = keys.get(signed.access_key)
    if secret is None:
        raise SignatureRefused("The security token included in the request is invalid.")
    if signed.scope.split("/")[2:] != [request.service, "aws4_request"]:
        raise SignatureRefused(
            f"Credential should be scoped to correct service: '{request.service}'."
        )
    age = now - _seconds(signed.date)
    if not -SKEW_S <= age <= signed.lasts_s:
        raise SignatureRefused("Signature expired")
    key, asked = signing_key(secret, signed.scope), _canonical(request, signed)
    made = signature(key, signed.date, signed.scope, asked)
    if not hmac.compare_digest(made.encode(), signed.signature.encode(errors="replace")):
        raise SignatureRefused(
            "The request signature we calculated does not match the one you provided."
        )
    return signed.access_key


def _of_headers(request: SignedRequest) -> Signed | None:
    headers = {name.lower(): value for name, value in request.headers}
    found = HEADER.match(headers.get("authorization", ""))
    if found is None:
        return None
    access_key, _, scope = found[1].partition("/")
    date = headers.get("x-amz-date", "")
    return Signed(access_key, scope, found[2], found[3], date, SKEW_S)


def _of_query(request: SignedRequest) -> Signed | None:
    query = dict(parse_qsl(request.query, keep_blank_values=True))
    if query.get("X-Amz-Algorithm") != ALGORITHM:
        return None
    access_key, _, scope = query.get("X-Amz-Credential", "").partition("/")
    lasts = query.get("X-Amz-Expires", "0")
    return Signed(
        access_key,
        scope,
        query.get("X-Amz-SignedHeaders", ""),
        query.get("X-Amz-Signature", ""),
        query.get("X-Amz-Date", ""),
        int(lasts) if LASTS.fullmatch(lasts) else 0,
    )


def _seconds(date: str) -> float:
    try:
        return timegm(time.strptime(date, "%Y%m%dT%H%M%SZ"))
    except ValueError:
        raise SignatureRefused("Date must be in ISO-8601 'basic format'.") from None


def _canonical(request: SignedRequest, signed: Signed) -> str:
    names = signed.signed_headers.split(";")
    values = [f"{name}:{_header(request, name)}\n" for name in names]
    path = request.path or "/"
    payload = request.payload
    return "\n".join(
        [
            request.method,
            path if request.service == S3 else quote(path, safe="/~"),
            sorted_query(request.query),
            "".join(values),
            signed.signed_headers,
            hashlib.sha256(request.body).hexdigest() if payload is None else payload,
        ]
    )


def _header(request: SignedRequest, name: str) -> str:
    values = [value for known, value in request.headers if known.lower() == name]
    return ",".join(" ".join(value.split()) for value in values)
