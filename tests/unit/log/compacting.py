"""Keyed batches, and what compaction leaves of them, as records."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from samsa.log.compact_batch import Sieve, clean, keys_of
from samsa.log.compact_slice import Cleaned, clean_all
from samsa.records import Record, build, headers, read_header, records
from samsa.records.batch import seal
from samsa.records.errors import RecordError
from samsa.records.spans import at_once
from samsa.records.varint import varint

HOUR = 3_600_000
TIME = 1_700_000_000_000
LONGEST = 2**63 - 1
NULL = varint(-1)


def keyed(base: int, *pairs: tuple[bytes | None, bytes | None], **options: int) -> bytes:
    """A batch of keys and values, a millisecond after each other."""
    made = [Record(base + n, TIME + base + n, *pair) for n, pair in enumerate(pairs)]
    return build(made, base_offset=base, **options)


def timed(base_timestamp: int, *deltas: int, value: bytes = NULL) -> bytes:
    """A batch of one key after the other, under a right checksum, whatever its times are."""
    bodies = [
        b"".join((b"\0", varint(delta), varint(n), varint(1), b"%d" % n, value, varint(0)))
        for n, delta in enumerate(deltas)
    ]
    data = b"".join(varint(len(body)) + body for body in bodies)
    header = read_header(keyed(0, *((b"k", b"v"),) * len(deltas)))
    return seal(header._replace(base_timestamp=base_timestamp, max_timestamp=LONGEST), data)


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
