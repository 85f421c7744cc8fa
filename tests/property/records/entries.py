"""Every way for bytes from outside into this room, by name."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from samsa.records import Codec, RecordError, first_at_or_after, headers, records, validate
from samsa.records.compression import decompress
from samsa.records.legacy import from_batches, is_legacy, to_batch

LIMIT = 64 * 1024


def _decompress(codec: Codec) -> Callable[[bytes], bytes]:
    return lambda data: decompress(codec, data, LIMIT)


ENTRIES: dict[str, Callable[[bytes], Any]] = {
    "validate": validate,
    "headers": headers,
    "records": lambda data: _count(records(data, limit=LIMIT)),
    "records of each": lambda data: [_count(records(data, at, LIMIT)) for at, _ in headers(data)],
    "first_at_or_after": lambda data: first_at_or_after(data, 1000, limit=LIMIT),
    "to_batch": lambda data: validate(to_batch(data, LIMIT)),
    "from_batches 0": lambda data: from_batches(data, 0, 0, None, LIMIT),
    "from_batches 1": lambda data: from_batches(data, 1, 0, 100, LIMIT),
    "is_legacy": is_legacy,
    **{f"decompress {codec.name}": _decompress(codec) for codec in Codec},
}


def run(entry: str, data: bytes) -> None:
    """Anything but a value or a RecordError comes through, and fails whoever called."""
    with suppress(RecordError):
        ENTRIES[entry](data)


def _count(found: Iterator[Any]) -> int:
    return sum(1 for _ in found)
