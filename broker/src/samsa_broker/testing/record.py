"""A record as a test sees it, and what a test may give as bytes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

Text: TypeAlias = bytes | str | None
"""A key or a value. A string is UTF-8; None is null."""
Headers: TypeAlias = Mapping[str, Text] | Sequence[tuple[str, Text]]


class Record(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp: int
    """Milliseconds since 1970."""
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def as_bytes(text: Text) -> bytes | None:
    return text.encode() if isinstance(text, str) else text


def as_headers(headers: Headers) -> tuple[tuple[str, bytes | None], ...]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return tuple((name, as_bytes(value)) for name, value in pairs)
