"""Every way for bytes from outside into this room, by name."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from unit.records.old import from_batches, to_batch

from samsa.records import Codec, RecordError, headers, records, validate
from samsa.records.compression import decompress
from samsa.records.legacy import is_legacy
from samsa.records.spans import at_once
from samsa.records.times import first_at_or_after, newest_from
from samsa.records.unpack import unpacked
from samsa.records.walk import walk

LIMIT = 64 * 1024


def _decompress(codec: Codec) -> Callable[[bytes], bytes]:
    return lambda data: decompress(codec, data, LIMIT)


ENTRIES: dict[str, Callable[[bytes], Any]] = {
    "validate": validate,
    "headers": headers,
    "records": lambda data: _count(records(data, limit=LIMIT)),
    "records of each": lambda data: [_count(records(data, at, LIMIT)) for at, _ in headers(data)],
    "first_at_or_after": lambda data: at_once(first_at_or_after(data, 1000, limit=LIMIT)),
    "to_batch": lambda data: validate(to_batch(data, LIMIT)),
    "from_batches 0": lambda data: from_batches(data, 0, 0, None, LIMIT),
    "from_batches 1": lambda data: from_batches(data, 1, 0, 100, LIMIT),
    "from_batches, uncut": lambda data: from_batches(data, 1, 3, 100, LIMIT, cut=False),
    "newest_from": lambda data: at_once(newest_from(data, 3, LIMIT)),
    "is_legacy": is_legacy,
    "walk": lambda data: at_once(walk(len(data) // 7, data)),
    "unpacked": lambda data: [at_once(unpacked(codec, data, LIMIT)) for codec in Codec],
    **{f"decompress {codec.name}": _decompress(codec) for codec in Codec},
}


def run(entry: str, data: bytes) -> None:
    """Anything but a value or a RecordError comes through, and fails whoever called."""
    with suppress(RecordError):
        ENTRIES[entry](data)


def _count(found: Iterator[Any]) -> int:
    return sum(1 for _ in found)
