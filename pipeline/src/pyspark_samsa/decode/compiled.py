"""Batches to columns by machine code: memory is reserved here, and filled by the kernel.

Batches that are not compressed are read where they lie; others are unpacked first, side by side.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pyspark_samsa.columns import ARROW_TYPES, HEADER, HEADERS, KEY, VALUE
from samsa.ports import Aborted, Buffer
from samsa.records import BatchHeader, Codec, CorruptBatch
from samsa.records.header import HEADER_SIZE

from . import kernel
from .rows import Rows, check_count, numbers, plain_bytes, wanted_batches

ENOUGH = 16 * 1024 * 1024
"""Uncompressed bytes that are decoded at a time: a small compressed range may hold gigabytes."""


class PlainBatches(NamedTuple):
    """Plain bytes, and where in them the batches are."""

    data: Any
    batches: Any

    @property
    def rows(self) -> int:
        return int(self.batches[:, kernel.COUNT].sum())


def load() -> None:
    """Load the machine code now, by decoding nothing: otherwise the first batch waits for it."""
    nothing = PlainBatches(np.zeros(0, np.uint8), np.zeros((0, kernel.WIDTH), np.int64))
    _rows(nothing, 0, 0, ())


def decode(
    data: Buffer,
    first: int,
    end: int,
    wanted: Collection[str],
    aborted: Sequence[Aborted] = (),
) -> Iterator[Rows]:
    for load in _loads(data, first, end, aborted):
        rows = _rows(load, first, end, wanted)
        if rows.count:
            yield rows


def _loads(
    data: Buffer, first: int, end: int, aborted: Sequence[Aborted]
) -> Iterator[PlainBatches]:
    found = list(wanted_batches(data, first, end, aborted))
    if all(header.codec is Codec.NONE for _, header in found):
        table = [
            _row(header, position + HEADER_SIZE, position + header.size)
            for position, header in found
        ]
        if table:
            yield PlainBatches(np.frombuffer(data, np.uint8), np.array(table, np.int64))
        return
    yield from _unpacked(data, found)


def _unpacked(data: Buffer, found: list[tuple[int, BatchHeader]]) -> Iterator[PlainBatches]:
    plain, table = bytearray(), []
    for position, header in found:
        start = len(plain)
        plain += plain_bytes(data, position, header)
        table.append(_row(header, start, len(plain)))
        if len(plain) >= ENOUGH:
            yield PlainBatches(np.frombuffer(plain, np.uint8), np.array(table, np.int64))
            plain, table = bytearray(), []
    if table:
        yield PlainBatches(np.frombuffer(plain, np.uint8), np.array(table, np.int64))


def _row(header: BatchHeader, start: int, stop: int) -> tuple[int, ...]:
    """In the order of the kernel's table."""
    check_count(header, stop - start)
    return (
        start,
        stop,
        header.count,
        header.base_offset,
        header.next_offset,
        header.base_timestamp,
        header.max_timestamp,
        int(header.log_append_time),
    )


class Binaries:
    """A binary column that is being filled: room for all that could be in it."""

    def __init__(self, rows: int, room: int) -> None:
        self.buffer = pa.allocate_buffer(room)
        self.bytes = np.frombuffer(self.buffer, np.uint8)
        self.ends = np.zeros(rows + 1, np.int32)
        self.there = np.empty(rows, np.bool_)

    def array(self, kind: pa.DataType, rows: int) -> pa.Array:
        there = self.there[:rows]
        mask = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
        used = self.buffer.slice(0, int(self.ends[rows]))
        return pa.Array.from_buffers(kind, rows, [mask, pa.py_buffer(self.ends[: rows + 1]), used])


def _rows(load: PlainBatches, first: int, end: int, wanted: Collection[str]) -> Rows:
    most, size = load.rows, len(load.data)
    keys = Binaries(most, size if KEY in wanted else 0)
    values = Binaries(most, size if VALUE in wanted else 0)
    offsets, times = np.empty(most, np.int64), np.empty(most, np.int64)
    kinds, header_at = np.empty(most, np.int32), np.empty(most, np.int64)
    header_counts = np.empty(most, np.int32)
    count = kernel.scan(
        load.data,
        load.batches,
        first,
        end,
        offsets,
        times,
        kinds,
        keys.bytes,
        keys.ends,
        keys.there,
        values.bytes,
        values.ends,
        values.there,
        header_at,
        header_counts,
    )
    if count < 0:
        raise CorruptBatch(kernel.REASONS[count])
    columns = numbers(offsets[:count], times[:count], kinds[:count])
    if KEY in wanted:
        columns[KEY] = keys.array(ARROW_TYPES[KEY], count)
    if VALUE in wanted:
        columns[VALUE] = values.array(ARROW_TYPES[VALUE], count)
    if HEADERS in wanted:
        columns[HEADERS] = _headers(load.data, header_at[:count], header_counts[:count])
    return Rows(count, columns)


def _headers(data: Any, header_at: Any, counts: Any) -> pa.Array:
    ends = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=ends[1:])
    total = int(ends[-1])
    if total == 0:
        return pa.nulls(len(counts), ARROW_TYPES[HEADERS])
    names, values = Binaries(total, len(data)), Binaries(total, len(data))
    names.there[:] = True
    kernel.scan_headers(
        data,
        header_at,
        counts,
        names.bytes,
        names.ends,
        values.bytes,
        values.ends,
        values.there,
    )
    pairs = pa.StructArray.from_arrays(
        [_text(names, total), values.array(pa.binary(), total)], fields=list(HEADER)
    )
    # A record without headers has none, rather than an empty list: as in Spark's Kafka source.
    mask = pa.py_buffer(np.packbits(counts > 0, bitorder="little"))
    kind = ARROW_TYPES[HEADERS]
    return pa.Array.from_buffers(kind, len(counts), [mask, pa.py_buffer(ends)], children=[pairs])


def _text(names: Binaries, total: int) -> pa.Array:
    text = names.array(pa.string(), total)
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:  # a name that is not UTF-8 is read as Java reads it
        raw = names.array(pa.binary(), total).to_pylist()
        return pa.array([name.decode(errors="replace") for name in raw], pa.string())
    return text
