"""Finds records by their times, in steps: a batch may hold millions of records."""

from samsa.records.bounded import Buffer
from samsa.records.errors import RecordError
from samsa.records.header import headers
from samsa.records.parse import Record
from samsa.records.record import DEFAULT_LIMIT, records_in_steps
from samsa.records.unpack import Making

SLICE = 128
"""Records between two yields: a quarter of a millisecond of work."""


def first_at_or_after(
    buffer: Buffer, timestamp: int, start_offset: int = 0, limit: int = DEFAULT_LIMIT
) -> Making[tuple[int, int] | None]:
    """Offset and timestamp of the first record at or after a time, in the batches of an object.

    If the records of a batch cannot be read, its header is used.
    """
    for position, header in headers(buffer):
        if header.max_timestamp < timestamp or header.next_offset <= start_offset:
            continue
        try:
            found = yield from _first(buffer, position, timestamp, start_offset, limit)
        except RecordError:
            return max(header.base_offset, start_offset), header.max_timestamp
        if found is not None:
            return found.offset, found.timestamp
    return None


def newest_from(buffer: Buffer, start_offset: int, limit: int = DEFAULT_LIMIT) -> Making[int]:
    """The greatest timestamp from an offset on; −1 if there is none.

    If the records of a batch cannot be read, its header is used.
    """
    newest = -1
    for position, header in headers(buffer):
        # Only a batch with offsets on both sides of `start_offset` has to be unpacked.
        if header.base_offset >= start_offset and not header.is_empty:
            newest = max(newest, header.max_timestamp)
        elif header.next_offset > start_offset:
            try:
                found = yield from _newest(buffer, position, start_offset, limit)
            except RecordError:
                found = header.max_timestamp
            newest = max(newest, found)
    return newest


def _first(
    buffer: Buffer, position: int, timestamp: int, start_offset: int, limit: int
) -> Making[Record | None]:
    found = yield from records_in_steps(buffer, position, limit)
    for number, record in enumerate(found):
        if record.timestamp >= timestamp and record.offset >= start_offset:
            return record
        if number % SLICE == 0:
            yield None
    return None


def _newest(buffer: Buffer, position: int, start_offset: int, limit: int) -> Making[int]:
    newest = -1
    found = yield from records_in_steps(buffer, position, limit)
    for number, record in enumerate(found):
        if record.offset >= start_offset:
            newest = max(newest, record.timestamp)
        if number % SLICE == 0:
            yield None
    return newest
