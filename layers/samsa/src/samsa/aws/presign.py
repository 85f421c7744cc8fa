"""Presigned URLs of S3 objects: valid for a while, without further credentials. No call is made.

A GET must ask for the range that was signed. That does not close the rest of the object: a header
that S3 knows and the signature does not cover, such as If-Range, may make it answer with all of it.
A PUT must have the content length and content type that were signed.
"""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from samsa.aws.credentials import Credentials, domain_of, endpoint_or, region_or, stamp
from samsa.aws.sigv4 import UNRESERVED, Signer

CONTENT_TYPE = "application/octet-stream"
EXPIRES_S = 900


def byte_range(start: int, length: int) -> str:
    """The `Range` header that a GET must have, as it is signed."""
    return f"bytes={start}-{start + length - 1}"


class Put(NamedTuple):
    url: str
    headers: dict[str, str]
    """Headers to send with it, besides the length."""


class Presigner:
    def __init__(
        self, bucket: str, prefix: str = "", endpoint: str | None = None, region: str | None = None
    ) -> None:
        region = region_or(region, endpoint)
        given = endpoint_or(endpoint, "s3", region)
        parts = urlsplit(given)
        own_host = given.endswith(f".{domain_of(region)}") and "." not in bucket
        self._host = f"{bucket}.{parts.netloc}" if own_host else parts.netloc
        self._origin = f"{parts.scheme}://{self._host}"
        folders = [] if own_host else [bucket]
        folders += [prefix.strip("/")] if prefix.strip("/") else []
        self._folder = "/".join(["", *folders, ""])
        self._signer = Signer("s3", region)
        self._credentials = Credentials()

    async def get(self, key: str, start: int, length: int) -> str:
        return await self._presign("GET", key, {"range": byte_range(start, length)})

    async def put(self, key: str, size: int) -> Put:
        headers = {"content-length": str(size), "content-type": CONTENT_TYPE}
        url = await self._presign("PUT", key, headers)
        return Put(url, {"content-type": CONTENT_TYPE})

    async def _presign(self, method: str, key: str, headers: Mapping[str, str]) -> str:
        keys = await self._credentials.keys()
        path = quote(f"{self._folder}{key}", safe="/" + UNRESERVED)
        signed = {**headers, "host": self._host}
        query = self._signer.query(keys, stamp(), method, path, signed, EXPIRES_S)
        return f"{self._origin}{path}?{query}"
