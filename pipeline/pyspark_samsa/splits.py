"""Work for one task: byte ranges of objects, and which of the offsets in them are wanted.

Tasks are cut by bytes. A partition of a gigabyte is many tasks, and many small partitions are one;
what lies in one task keeps its order.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from pyspark.sql.datasource import InputPartition

from samsa.log.extents import cut
from samsa.ports import Extent

from .positions import TopicPartition

CHUNK = 2 * 1024 * 1024
"""What is read and decoded at a time."""
LARGE, SMALL, TASKS = 64 * 1024 * 1024, 8 * 1024 * 1024, 8
"""A task has between SMALL and LARGE bytes, such that there are TASKS of them if that can be."""
OPEN_COST = 64 * 1024
"""Finding the next range, as if it were so many bytes."""


class Run(NamedTuple):
    """Bytes of one object that hold whole batches, and the offsets that are wanted of them."""

    topic: str
    number: int
    topic_id: UUID
    key: str
    start: int
    length: int
    first: int
    end: int

    @property
    def where(self) -> TopicPartition:
        return TopicPartition(self.topic, self.number)


class Split(InputPartition):
    """What a task reads."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = tuple(runs)

    @property
    def size(self) -> int:
        return sum(run.length for run in self.runs)


class Stretch(NamedTuple):
    """An extent, and the offsets that are wanted of it."""

    where: TopicPartition
    topic_id: UUID
    extent: Extent
    first: int
    end: int


def split(
    stretches: Sequence[Stretch], min_partitions: int | None, split_bytes: int | None
) -> list[Split]:
    total = sum(stretch.extent.size for stretch in stretches)
    size = split_bytes or min(LARGE, max(SMALL, total // TASKS))
    chunk = max(1, min(CHUNK, size, total // (min_partitions or 1)))
    costs = list(_costs(run for stretch in stretches for run in runs(stretch, chunk)))
    if min_partitions:
        size = min(size, sum(cost for _, cost in costs) // min_partitions)
    return list(_packed(costs, size))


def runs(stretch: Stretch, chunk: int = CHUNK) -> Iterator[Run]:
    """The stretch in pieces of about so many bytes, each of whole batches."""
    where, topic_id, extent, first, end = stretch
    offset = max(first, extent.base)
    while offset < min(end, extent.end):
        piece = cut(extent, offset, chunk)
        until = min(end, piece.end_offset)
        yield Run(*where, topic_id, piece.key, piece.start, piece.length, offset, until)
        offset = piece.end_offset


def _costs(every: Iterable[Run]) -> Iterator[tuple[Run, int]]:
    before: Run | None = None
    for run in every:
        yield run, run.length + (0 if before and _follows(before, run) else OPEN_COST)
        before = run


def _packed(costs: Iterable[tuple[Run, int]], size: int) -> Iterator[Split]:
    """As many in one split as fit, and at least one."""
    taken: list[Run] = []
    spent = 0
    for run, cost in costs:
        if taken and spent + cost > size:
            yield Split(taken)
            taken, spent = [], 0
        taken.append(run)
        spent += cost
    if taken:
        yield Split(taken)


def _follows(run: Run, after: Run) -> bool:
    return run.key == after.key and run.start + run.length == after.start
