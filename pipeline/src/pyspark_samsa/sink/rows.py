"""From Spark's Arrow batches to records, each with the place it goes to."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pyspark_samsa.columns import HEADERS, KEY, PARTITION, TIMESTAMP, TOPIC, VALUE
from pyspark_samsa.errors import BadRows
from samsa.records.parse import Headers

from .options import SinkOptions
from .partitioner import Numbers, Sticking, by_key, sizes
from .topics import Target, Targets

ROWS, BYTES = 1_000, 8 * 1024 * 1024
"""Made to Python objects at a time, about."""


class SinkRow(NamedTuple):
    target: Target
    number: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class SinkRows:
    def __init__(
        self, columns: Sequence[str], options: SinkOptions, targets: Targets, sticking: Sticking
    ) -> None:
        self._columns = columns
        self._options = options
        self._targets = targets
        self._sticking = sticking

    def of(self, batch: pa.RecordBatch, now_ms: int) -> Iterator[SinkRow]:
        """Raises BadRows, UnknownTopic."""
        step = max(1, min(ROWS, batch.num_rows * BYTES // (batch.nbytes + 1)))
        for start in range(0, batch.num_rows, step):
            yield from self._some(batch.slice(start, step), now_ms)

    def _some(self, batch: pa.RecordBatch, now_ms: int) -> Iterator[SinkRow]:
        size = batch.num_rows
        columns = {name: batch.column(batch.schema.get_field_index(name)) for name in self._columns}
        keys, values = _bytes(columns.get(KEY), size), _bytes(columns[VALUE], size)
        headers = columns[HEADERS].to_pylist() if HEADERS in columns else [None] * size
        times = _times(columns.get(TIMESTAMP), size, now_ms)
        targets = self._targets_of(columns.get(TOPIC), size)
        numbers = self._numbers(columns.get(PARTITION), keys, values, targets)
        rows = zip(
            targets, numbers, times, keys.to_pylist(), values.to_pylist(), headers, strict=True
        )
        for target, number, time, key, value, several in rows:
            _check(target, number, key)
            yield SinkRow(target, number, time, key, value, _headers(several))

    def _targets_of(self, column: pa.Array | None, size: int) -> list[Target]:
        if self._options.topic is not None:
            return [self._targets.target(self._options.topic)] * size
        assert column is not None
        if column.null_count:
            raise BadRows("a row has no topic: its column 'topic' is null")
        return [self._targets.target(name) for name in column.to_pylist()]

    def _numbers(
        self, chosen: pa.Array | None, keys: pa.Array, values: pa.Array, targets: list[Target]
    ) -> list[int]:
        partitions = np.array([target.partitions for target in targets], np.int64)
        numbers: Numbers = np.zeros(len(targets), np.int64)
        for count in np.unique(partitions):
            hashed = by_key(keys, int(count))
            numbers = np.where(partitions == count, hashed, numbers)
        keyless = np.flatnonzero(np.asarray(keys.is_null()))
        if len(keyless):
            some = sizes(values)[keyless]
            numbers[keyless] = self._sticking.numbers(some) % partitions[keyless]
        found: list[int] = numbers.tolist()
        if chosen is None:
            return found
        asked = chosen.to_pylist()
        return [number if said is None else said for number, said in zip(found, asked, strict=True)]


def _check(target: Target, number: int, key: bytes | None) -> None:
    if not 0 <= number < target.partitions:
        raise BadRows(
            f"a row names partition {number} of {target.name!r}, which has {target.partitions}"
        )
    if target.wants_keys and key is None:
        raise BadRows(f"a row has no key, and {target.name!r} is compacted, which goes by keys")


def _bytes(column: pa.Array | None, size: int) -> pa.Array:
    """Text or bytes as bytes."""
    if column is None:
        return pa.nulls(size, pa.large_binary())
    if pa.types.is_string(column.type):
        column = column.cast(pa.binary())
    return column.cast(pa.large_binary())


def _times(column: pa.Array | None, size: int, now_ms: int) -> list[int]:
    if column is None:
        return [now_ms] * size
    times = column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())
    found = [now_ms if time is None else time for time in times.to_pylist()]
    if found and min(found) < 0:
        raise BadRows("a row has a time before 1970, which a record cannot have")
    return found


def _headers(several: list[Any] | None) -> Headers:
    if not several:
        return ()
    if any(one is None or one[KEY] is None for one in several):
        raise BadRows("a row has a header without a key")
    return tuple((one[KEY], one[VALUE]) for one in several)
