"""Work for one task: byte ranges of objects, and which of the offsets in them are wanted.

Tasks are cut by bytes. A partition of a gigabyte is many tasks, and many small partitions are one;
what lies in one task keeps its order. Bytes that are in the ledger come with the task, or are left
there for the task to ask for.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from pyspark.sql.datasource import InputPartition

from samsa.log.extents import Range, cut
from samsa.ports import Aborted, Extent

from .options import Cuts
from .positions import TopicPartition

CHUNK = 2 * 1024 * 1024
"""What is read and decoded at a time."""
LARGE, SMALL, TASKS = 64 * 1024 * 1024, 8 * 1024 * 1024, 8
"""A task has between SMALL and LARGE bytes, such that there are TASKS of them if that can be."""
OPEN_COST = 64 * 1024
"""The cost of finding the next range, in bytes that could be read in that time."""
TASK_BYTES = 512 * 1024
"""What a task may bring along: Spark warns of tasks that are larger than 1,000 KiB."""


class ByteRun(NamedTuple):
    """Bytes that hold whole batches, and the offsets that are wanted of them."""

    topic: str
    number: int
    topic_id: UUID
    stored: Range
    first: int
    end: int
    aborted: tuple[Aborted, ...] = ()
    """The aborted transactions whose records are left out."""

    @property
    def where(self) -> TopicPartition:
        return TopicPartition(self.topic, self.number)

    @property
    def is_left_in_ledger(self) -> bool:
        """Whether its bytes are in no object, and were too many for the plan."""
        return not self.stored.key and not self.stored.data


class Split(InputPartition):
    """What a task reads."""

    def __init__(self, runs: Sequence[ByteRun]) -> None:
        self.runs = tuple(runs)

    @property
    def size(self) -> int:
        return sum(run.stored.length for run in self.runs)


class Stretch(NamedTuple):
    """An extent, and the offsets that are wanted of it."""

    where: TopicPartition
    topic_id: UUID
    extent: Extent
    first: int
    end: int
    aborted: tuple[Aborted, ...] = ()
    """As in `ByteRun`."""


def split(stretches: Sequence[Stretch], cuts: Cuts) -> list[Split]:
    total = sum(stretch.extent.size for stretch in stretches)
    size = cuts.most_bytes or min(LARGE, max(SMALL, total // TASKS))
    chunk = max(1, min(CHUNK, size, total // (cuts.min_tasks or 1)))
    if cuts.most_records:
        records = sum(stretch.extent.end - stretch.extent.base for stretch in stretches)
        chunk = max(1, min(chunk, total * cuts.most_records // max(1, records)))
    every = (run for stretch in stretches for run in runs(stretch, chunk))
    asked: Iterable[ByteRun] = _asked_together(every, chunk)
    if cuts.most_records:
        asked = _of_few_records(asked, cuts.most_records)
    costs = list(_costs(asked))
    if cuts.min_tasks:
        size = min(size, sum(cost for _, cost in costs) // cuts.min_tasks)
    return list(_packed(costs, size, cuts.most_records or sys.maxsize))


def runs(stretch: Stretch, chunk: int = CHUNK) -> Iterator[ByteRun]:
    """The stretch in pieces of about so many bytes, each of whole batches."""
    where, topic_id, extent, first, end, aborted = stretch
    offset = max(first, extent.base)
    while offset < min(end, extent.end):
        piece = cut(extent, offset, chunk)
        until = min(end, piece.end_offset)
        some = tuple(one for one in aborted if one.first < until and one.marker >= offset)
        yield ByteRun(*where, topic_id, piece, offset, until, some)
        offset = piece.end_offset


def _asked_together(every: Iterable[ByteRun], chunk: int) -> Iterator[ByteRun]:
    """What is left in the ledger as one run, where it is one in the log: asking costs much more
    than reading it."""
    before: ByteRun | None = None
    for run in every:
        if before and _is_asked_with(before, run, chunk):
            length = before.stored.length + run.stored.length
            stored = before.stored._replace(length=length, end_offset=run.stored.end_offset)
            aborted = tuple(sorted({*before.aborted, *run.aborted}))
            before = before._replace(stored=stored, end=run.end, aborted=aborted)
            continue
        if before:
            yield before
        before = run
    if before:
        yield before


def _is_asked_with(before: ByteRun, run: ByteRun, chunk: int) -> bool:
    return (
        before.is_left_in_ledger
        and run.is_left_in_ledger
        and (before.where, before.end) == (run.where, run.first)
        and before.stored.length + run.stored.length <= chunk
    )


def _of_few_records(every: Iterable[ByteRun], most: int) -> Iterator[ByteRun]:
    """Runs of at most so many offsets. Tasks that share a batch read all of it."""
    for run in every:
        for first in range(run.first, run.end, most):
            yield run._replace(first=first, end=min(first + most, run.end))


def _costs(every: Iterable[ByteRun]) -> Iterator[tuple[ByteRun, int]]:
    before: ByteRun | None = None
    for run in every:
        is_near = run.stored.data or (before and _follows(before, run))
        yield run, run.stored.length + (0 if is_near else OPEN_COST)
        before = run


def _packed(costs: Iterable[tuple[ByteRun, int]], size: int, most_records: int) -> Iterator[Split]:
    """As many in one split as fit, and at least one."""
    taken: list[ByteRun] = []
    spent, inline, records = 0, 0, 0
    for run, cost in costs:
        more, count = len(run.stored.data), run.end - run.first
        is_full = spent + cost > size or inline + more > TASK_BYTES
        if taken and (is_full or records + count > most_records):
            yield Split(taken)
            taken, spent, inline, records = [], 0, 0, 0
        taken.append(run)
        spent += cost
        inline += more
        records += count
    if taken:
        yield Split(taken)


def _follows(run: ByteRun, next_run: ByteRun) -> bool:
    before, after = run.stored, next_run.stored
    return before.key == after.key and before.start + before.length == after.start
