"""The result of both decoders: Arrow columns of the records at certain offsets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from pyspark_samsa.columns import ARROW_TYPES, OFFSET, PARTITION, TIMESTAMP, TIMESTAMP_TYPE, TOPIC
from samsa.ports import Aborted, Buffer
from samsa.records import BatchHeader, CorruptBatch, headers
from samsa.records.compression import decompress
from samsa.records.header import HEADER_SIZE

MOST_PLAIN = 1 << 30
"""Bytes that one batch may unpack to. Arrow's offsets, and Spark's rows, end at twice that."""
SMALLEST_RECORD = 7
MICROSECONDS = 1_000
LATEST_MS = (2**63 - 1) // MICROSECONDS

Columns: TypeAlias = Mapping[str, pa.Array]


class Rows(NamedTuple):
    count: int  # type: ignore[assignment]  # what it is, and a tuple's method
    columns: Columns
    """By name; only those that were wanted, without topic and partition."""

    def batch(self, topic: str, partition: int, schema: pa.Schema) -> pa.RecordBatch:
        where = {TOPIC: topic, PARTITION: partition}
        columns = [
            pa.repeat(pa.scalar(where[name], ARROW_TYPES[name]), self.count)
            if name in where
            else self.columns[name]
            for name in schema.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def wanted_batches(
    data: Buffer, first: int, end: int, aborted: Sequence[Aborted] = ()
) -> Iterator[tuple[int, BatchHeader]]:
    """Batches with records at [first, end), without those of aborted transactions. Filler and
    control batches have no records for readers."""
    for position, header in headers(data):
        if header.base_offset >= end:
            return
        if header.count and not header.is_control and header.next_offset > first:
            if header.count < 0 or header.last_offset_delta < 0:
                raise CorruptBatch("the header counts what cannot be counted")
            if not (aborted and header.is_transactional and _is_aborted(header, aborted)):
                yield position, header


def _is_aborted(header: BatchHeader, aborted: Sequence[Aborted]) -> bool:
    return any(
        one.producer_id == header.producer_id and one.first <= header.base_offset < one.marker
        for one in aborted
    )


def plain_bytes(data: Buffer, position: int, header: BatchHeader) -> bytes:
    packed = memoryview(data)[position + HEADER_SIZE : position + header.size]
    return decompress(header.codec, packed, MOST_PLAIN)


def check_count(header: BatchHeader, size: int) -> None:
    """Call this before memory for so many records is reserved."""
    if header.count * SMALLEST_RECORD > size:
        raise CorruptBatch(f"{header.count} records do not fit into {size} bytes")


def numbers(offsets: Any, times: Any, kinds: Any) -> dict[str, pa.Array]:
    """The columns that are plain integers, from arrays of numpy."""
    # Spark counts microseconds: a time after the year 294247 is shown as the last of them.
    micros = np.clip(times, -LATEST_MS, LATEST_MS) * MICROSECONDS
    return {
        OFFSET: fixed(OFFSET, offsets),
        TIMESTAMP: fixed(TIMESTAMP, micros),
        TIMESTAMP_TYPE: fixed(TIMESTAMP_TYPE, kinds),
    }


def fixed(name: str, values: Any) -> pa.Array:
    return pa.Array.from_buffers(ARROW_TYPES[name], len(values), [None, pa.py_buffer(values)])
