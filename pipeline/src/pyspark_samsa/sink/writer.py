"""What Spark calls: `write` in executors, `commit` and `abort` in the driver."""

import asyncio
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from pyspark_samsa.access import check_objects
from pyspark_samsa.errors import BadOption
from pyspark_samsa.queries import query_and_batch
from samsa.ports import Buffer
from samsa.runtime.store_urls import open_objects
from samsa.runtime.system import SystemClock, fresh_words

from .commit import abort, commit
from .options import SinkOptions
from .partitioner import Sticking
from .rows import SinkRows
from .staged import Staged, StagedPiece
from .staging import Stager
from .topics import Targets, named_turn
from .turns import Turn

Messages = Sequence[WriterCommitMessage | None]


class SamsaWriter(DataSourceArrowWriter):
    """Of one job."""

    def __init__(self, options: SinkOptions, columns: tuple[str, ...]) -> None:
        self._options = options
        self._columns = columns
        self._turn = _turn_of_job(options)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        return stage(self._options, self._columns, self._turn, iterator)

    def commit(self, messages: Messages) -> None:
        asyncio.run(commit(self._options, self._turn, _pieces(messages)))

    def abort(self, messages: Messages) -> None:
        asyncio.run(abort(self._options, self._turn, _pieces(messages)))


def _turn_of_job(options: SinkOptions) -> Turn:
    if options.named is None:
        return Turn(fresh_words()(), 0, can_come_again=False)
    return asyncio.run(named_turn(options, options.named))


class SamsaStreamWriter(DataSourceStreamArrowWriter):
    """Of one query. Spark makes one for each micro-batch, and another one to commit it."""

    def __init__(self, options: SinkOptions, columns: tuple[str, ...]) -> None:
        self._options = options
        self._columns = columns

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        return stage(self._options, self._columns, Turn(*query_and_batch()), iterator)

    def commit(self, messages: Messages, batchId: int) -> None:
        turn = _turn_of(messages)
        if turn is not None:
            assert turn.number == batchId
            asyncio.run(commit(self._options, turn, _pieces(messages)))

    def abort(self, messages: Messages, batchId: int) -> None:
        turn = _turn_of(messages)
        if turn is not None:
            assert turn.number == batchId
            asyncio.run(abort(self._options, turn, _pieces(messages)))


def refuse_overwriting(overwrite: bool) -> None:
    if overwrite:
        raise BadOption('a log only grows: write with mode("append")')


def stage(
    options: SinkOptions,
    columns: tuple[str, ...],
    turn: Turn,
    batches: Iterator[pa.RecordBatch],
) -> Staged:
    check_objects(options.objects)
    attempt, clock = fresh_words()(), SystemClock()
    rows = SinkRows(columns, options, Targets(options), Sticking(int(attempt, 16)))
    objects = open_objects(options.objects, fsync=False, cache_bytes=0)

    async def put(number: int, parts: list[Buffer]) -> str:
        key = turn.data_key(attempt, number)
        await objects.put_if_absent(key, parts)
        return key

    stager = Stager(put, options.codec)
    with asyncio.Runner() as runner:
        try:
            for batch in batches:
                for row in rows.of(batch, clock.now_ms()):
                    stager.add(row)
                    if stager.is_full:
                        runner.run(stager.flush())
            runner.run(stager.flush())
        finally:
            runner.run(objects.close())
    return Staged(turn, tuple(stager.pieces))


def _pieces(messages: Messages) -> list[StagedPiece]:
    return [piece for each in messages if isinstance(each, Staged) for piece in each.pieces]


def _turn_of(messages: Messages) -> Turn | None:
    return next((each.turn for each in messages if isinstance(each, Staged)), None)
