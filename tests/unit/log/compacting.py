"""Keyed batches, and what compaction leaves of them, as records."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from samsa.log.compact_batch import Sieve, clean, keys_of
from samsa.log.compact_slice import Cleaned, clean_all
from samsa.records import Record, build, headers, read_header, records
from samsa.records.errors import RecordError
from samsa.records.spans import at_once

HOUR = 3_600_000
TIME = 1_700_000_000_000


def keyed(base: int, *pairs: tuple[bytes | None, bytes | None], **options: int) -> bytes:
    """A batch of keys and values, a millisecond after each other."""
    made = [Record(base + n, TIME + base + n, *pair) for n, pair in enumerate(pairs)]
    return build(made, base_offset=base, **options)


def newest_in(*batches: bytes) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for batch in batches:
        with suppress(RecordError):
            found |= at_once(keys_of(read_header(batch), batch))
    return found


def a_sieve(newest: Mapping[bytes, int], end: int = 10**9, **rest: object) -> Sieve:
    return Sieve(newest, end, **{"now_ms": TIME + HOUR, "tombstones_ms": HOUR, **rest})


def cleaned(batch: bytes, sieve: Sieve) -> bytes | None:
    return at_once(clean(read_header(batch), batch, sieve))


def cleaned_all(batches: Iterable[bytes], sieve: Sieve) -> Cleaned:
    return at_once(clean_all(list(batches), sieve))


def all_records(data: bytes) -> list[Record]:
    return [record for position, _ in headers(data) for record in records(data, position)]


def pairs_in(data: bytes) -> list[tuple[int, bytes | None, bytes | None]]:
    return [(record.offset, record.key, record.value) for record in all_records(data)]
