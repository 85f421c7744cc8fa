"""Batches to columns in plain Python: where numba is absent, and for little data.

The oracle of the compiled decoder too: both give the same rows, and refuse the same bytes.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa

from pyspark_samsa.columns import ARROW_TYPES, HEADERS, KEY, VALUE
from samsa.ports import Aborted, Buffer
from samsa.records import BatchHeader, Record
from samsa.records.parse import parse

from .rows import Rows, check_count, numbers, plain_bytes, wanted_batches

MANY = 64 * 1024


def decode(
    data: Buffer,
    first: int,
    end: int,
    wanted: Collection[str],
    aborted: Sequence[Aborted] = (),
) -> Iterator[Rows]:
    found: list[Record] = []
    kinds: list[int] = []
    for position, header in wanted_batches(data, first, end, aborted):
        found += _records(data, position, header, first, end)
        kinds += [int(header.log_append_time)] * (len(found) - len(kinds))
        if len(found) >= MANY:
            yield _rows(found, kinds, wanted)
            found, kinds = [], []
    if found:
        yield _rows(found, kinds, wanted)


def _records(
    data: Buffer, position: int, header: BatchHeader, first: int, end: int
) -> list[Record]:
    plain = plain_bytes(data, position, header)
    check_count(header, len(plain))
    return [record for record in parse(header, plain) if first <= record.offset < end]


def _rows(found: list[Record], kinds: list[int], wanted: Collection[str]) -> Rows:
    columns = numbers(
        np.array([record.offset for record in found], np.int64),
        np.array([record.timestamp for record in found], np.int64),
        np.array(kinds, np.int32),
    )
    if KEY in wanted:
        columns[KEY] = pa.array([record.key for record in found], ARROW_TYPES[KEY])
    if VALUE in wanted:
        columns[VALUE] = pa.array([record.value for record in found], ARROW_TYPES[VALUE])
    if HEADERS in wanted:
        columns[HEADERS] = pa.array(
            [_headers(record) if record.headers else None for record in found],
            ARROW_TYPES[HEADERS],
        )
    return Rows(len(found), columns)


def _headers(record: Record) -> list[dict[str, str | bytes | None]]:
    return [{KEY: name, VALUE: value} for name, value in record.headers]
