"""What Spark calls: `write` in executors, `commit` and `abort` in the driver."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from pyspark_samsa.queries import query_and_batch

from .commit import MicroBatch, WrittenFile, commit
from .files import data_files
from .options import IcebergOptions
from .tables import catalog_of, existing_table

Messages = Sequence[WriterCommitMessage | None]
log = logging.getLogger("samsa.spark")


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    batch: MicroBatch
    files: tuple[WrittenFile, ...]


class IcebergWriter(DataSourceStreamArrowWriter):
    """Of one query. Spark makes one for each micro-batch, and another one to commit it."""

    def __init__(self, options: IcebergOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        return self.written(MicroBatch(*query_and_batch()), iterator)

    def written(self, batch: MicroBatch, rows: Iterator[pa.RecordBatch]) -> Written:
        with catalog_of(self._options) as catalog:
            table = existing_table(catalog, self._options.table)
            spec = table.spec().spec_id
            files = tuple(WrittenFile(each, spec) for each in data_files(table, rows))
        return Written(batch, files)

    def commit(self, messages: Messages, batchId: int) -> None:
        batch, files = _batch_of(messages), _files_of(messages)
        if batch is None or not files:
            return
        assert batch.number == batchId
        with catalog_of(self._options) as catalog:
            if not commit(catalog, self._options.table, batch, files):
                log.info("batch %s of %s is there already", batch.number, batch.query)
                # These were written again, by new tasks: the table names those of the first time.
                self._delete(files)

    def abort(self, messages: Messages, batchId: int) -> None:  # noqa: ARG002
        # With a message of every task it is a commit that has failed, or whose answer was lost: the
        # table may name these files.
        if any(each is None for each in messages):
            self._delete(_files_of(messages))

    def _delete(self, files: Sequence[WrittenFile]) -> None:
        with catalog_of(self._options) as catalog:
            io = existing_table(catalog, self._options.table).io
            for each in files:
                io.delete(each.file.file_path)


def _batch_of(messages: Messages) -> MicroBatch | None:
    return next((each.batch for each in messages if isinstance(each, Written)), None)


def _files_of(messages: Messages) -> list[WrittenFile]:
    return [file for each in messages if isinstance(each, Written) for file in each.files]
