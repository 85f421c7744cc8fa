"""What Spark calls: `write` in executors, `commit` and `abort` in the driver.

Each executor writes the newest of its rows to a file. The driver selects the newest of all, and
updates the table: so it needs memory for what one micro-batch changes.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from pyspark_samsa.columns import in_utc
from pyspark_samsa.errors import BadOption, BadRows, SamsaError
from samsa.runtime.system import fresh_words

from .buckets import NAME, BucketFiles
from .delta import DeltaRows
from .files import DRAFTS, ParquetFiles
from .newest import GONE, all_alive, among, deleted, newest
from .options import DELTA, LatestOptions

STAGED, DELETED = "_staged", "_deleted"
"""Folders inside of the table's folder. Readers skip names that begin with an underscore."""
Messages = Sequence[WriterCommitMessage | None]
MANY = 200_000
"""Rows that an executor holds before it drops the older ones of each key."""


@dataclass(frozen=True)
class StagedFile(WriterCommitMessage):
    name: str | None
    """The file's name, if there were rows."""


class LatestTable(Protocol):
    def merge(self, changes: pa.Table) -> None: ...


class LatestWriter(DataSourceStreamArrowWriter):
    def __init__(self, options: LatestOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedFile:
        changes = reduced(iterator, self._options)
        if changes is None:
            return StagedFile(None)
        name = f"{STAGED}/{fresh_words()()}.parquet"
        ParquetFiles(self._options.path).write(name, changes)
        return StagedFile(name)

    def commit(self, messages: Messages, batchId: int) -> None:  # noqa: ARG002
        files = ParquetFiles(self._options.path)
        names = [each.name for each in messages if isinstance(each, StagedFile) and each.name]
        staged = [found(files, name) for name in names]
        if staged:
            upsert(files, self._options, newest(staged, self._options.order))
        clear(files)

    def abort(self, messages: Messages, batchId: int) -> None:  # noqa: ARG002
        clear(ParquetFiles(self._options.path))


def found(files: ParquetFiles, name: str) -> pa.Table:
    rows = files.read(name)
    if rows is None:
        raise SamsaError(f"{name} is gone: does another query write to the same table?")
    return rows


def clear(files: ParquetFiles) -> None:
    """Delete what was staged. A slow copy of a task may still write a file: the next batch, whose
    tasks begin when this one is done, deletes it."""
    for folder in (STAGED, DRAFTS):
        with suppress(OSError):
            files.remove(folder)


def reduced(batches: Iterator[pa.RecordBatch], options: LatestOptions) -> pa.Table | None:
    """The newest row of each key, from batches in any order."""
    held: list[pa.Table] = []
    for batch in batches:
        held.append(as_changes(batch, options))
        if sum(map(len, held)) > MANY:
            held = [newest(held, options.order)]
    return newest(held, options.order) if any(map(len, held)) else None


def as_changes(batch: pa.RecordBatch, options: LatestOptions) -> pa.Table:
    """With times in UTC, as both formats have them, and with the column of deletions."""
    rows = in_utc(pa.Table.from_batches([batch]))
    for name in options.order.columns:
        if rows[name].null_count:
            raise BadRows(f"a row whose {name} is null has no place among the latest")
    if options.deleted is None:
        return all_alive(rows)
    gone = rows[options.deleted].fill_null(False)
    return rows.drop_columns(options.deleted).append_column(GONE, gone)


def upsert(files: ParquetFiles, options: LatestOptions, changes: pa.Table) -> None:
    """If it is interrupted, it is done again from the beginning, with the same result."""
    order, table = options.order, table_of(files, options)
    memory = BucketFiles(files, DELETED, order, options.buckets)
    memory.keep(deleted(changes, order))
    known = [among(rows, changes, order) for rows in memory.near(changes)]
    # The first of them says which columns there are, and in which order.
    table.merge(newest([changes, *known], order))


def table_of(files: ParquetFiles, options: LatestOptions) -> LatestTable:
    names = files.names()
    is_delta = "_delta_log" in names
    if is_delta != (options.form == DELTA) and (is_delta or any(map(NAME.fullmatch, names))):
        raise BadOption(f"{options.path} is a table in another format than {options.form}")
    if options.form == DELTA:
        return DeltaRows(options.path, options.order)
    return BucketFiles(files, "", options.order, options.buckets)
