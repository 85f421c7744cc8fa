"""Reads the URLs of stores, and opens nothing.

sqlite:///path/to/ledger.db                    file:///path/to/objects
dynamodb://table?region=…&endpoint=…           s3://bucket/prefix?region=…&endpoint=…
"""

from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

OPTIONS = ("region", "endpoint")


class BadUrl(Exception):
    """Its message says what is wrong with a URL, and shows a correct one."""


class StoreUrl(NamedTuple):
    text: str
    scheme: str
    name: str
    """The table or the bucket. A local store has none."""
    path: str
    region: str | None
    endpoint: str | None

    @property
    def prefix(self) -> str:
        """The folder in a bucket, without slashes around it."""
        return self.path.strip("/")


def read_store_url(text: str) -> StoreUrl:
    """Raises BadUrl."""
    parts = urlsplit(text)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    unknown = sorted(set(query) - set(OPTIONS))
    if unknown:
        raise BadUrl(f"{text!r}: there is no option {unknown[0]!r}; there are {', '.join(OPTIONS)}")
    region, endpoint = query.get("region"), query.get("endpoint")
    return StoreUrl(text, parts.scheme, parts.netloc, parts.path, region, endpoint)


def read_remote_url(text: str, scheme: str) -> StoreUrl:
    """For functions, which cannot use stores of one machine. Raises BadUrl."""
    url = read_store_url(text)
    if url.scheme != scheme or not url.name:
        raise BadUrl(f"{text!r} is not {scheme}://NAME?endpoint=…")
    return url


def local_path(url: StoreUrl, example: str) -> str:
    """Raises BadUrl. A fourth slash, as other tools want for SQLite, is as good as three: with two
    slashes in front SQLite would take the first folder for the name of a host."""
    path = "/" + url.path.lstrip("/")
    if url.name or not url.path.startswith("/") or path == "/":
        raise BadUrl(f"a local path is absolute and has three slashes: {example}")
    return path
