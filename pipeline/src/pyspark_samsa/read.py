"""Reading in an executor: from the byte ranges of a split to Arrow batches.

A range may be gone when its task runs, because the log was merged, compacted or trimmed since it
was planned. Then it is planned again, here; only what the log no longer has is lost. Ranges that
the plan left in the ledger are planned again, too.
"""

import asyncio
import sys
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from samsa.ports import Missing, Partition
from samsa.records import RecordError

from .access import opened
from .columns import arrow_schema
from .decode import decoder
from .errors import SamsaError
from .fetch import Get, source
from .losses import Losses
from .options import Options
from .plan import Planner
from .splits import ByteRun, Split, runs

AGAIN = 3
ENOUGH = 1024 * 1024


def read(split: Split, options: Options) -> Iterator[pa.RecordBatch]:
    return gathered(_batches(split, options))


def _batches(split: Split, options: Options) -> Iterator[pa.RecordBatch]:
    reading = Reading(options, split.size)
    for run, get in source(options.objects).each(split.runs):
        yield from reading.run(run, get, AGAIN)


def gathered(batches: Iterable[pa.RecordBatch], enough: int = ENOUGH) -> Iterator[pa.RecordBatch]:
    """Joins small batches: each batch that is passed to Spark has a cost."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= enough:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


class Reading:
    def __init__(self, options: Options, size: int) -> None:
        self._options = options
        self._schema = arrow_schema(options.columns)
        self._decode = decoder(size)

    def run(self, run: ByteRun, get: Get, again: int) -> Iterator[pa.RecordBatch]:
        try:
            data = get()
        except Missing:
            yield from self._moved(run, again)
            return
        try:
            columns = self._options.columns
            for rows in self._decode(data, run.first, run.end, columns, run.aborted):
                yield rows.batch(run.topic, run.number, self._schema)
        except RecordError as error:
            raise SamsaError(f"{run.where} from offset {run.first}: {error}") from error

    def _moved(self, run: ByteRun, again: int) -> Iterator[pa.RecordBatch]:
        if not again:
            raise SamsaError(f"{run.where}: {run.stored.key} is missing, though the log has it")
        for moved, get in source(self._options.objects).each(self._planned_again(run)):
            yield from self.run(moved, get, again - 1)

    def _planned_again(self, run: ByteRun) -> Sequence[ByteRun]:
        async def plan() -> list[ByteRun]:
            partition = Partition(run.topic_id, run.number)
            async with opened(self._options.ledger, self._options.objects) as access:
                losses = Losses(self._options.fail_on_data_loss)
                committed = self._options.read_committed
                planner = Planner(access, losses, sys.maxsize, committed)
                found = await planner.stretches(run.where, partition, run.first, run.end)
            return [piece for stretch in found for piece in runs(stretch)]

        return asyncio.run(plan())
