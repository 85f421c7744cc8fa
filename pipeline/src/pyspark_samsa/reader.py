"""Reading a topic as a table."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from samsa.ports import Head

from .access import opened
from .bounds import ending_offsets, look_at, starting_offsets
from .filters import Worth, worth_reading
from .losses import Losses
from .options import Options
from .plan import PLANNED_BYTES, Planner, in_order
from .positions import TopicPartition
from .read import read
from .splits import Split, split
from .subscribed import subscribed


class _PushFilters:
    """`pushFilters`, also for a Spark in which filter push-down is disabled.

    Unless `spark.sql.python.filterPushdown.enabled` is set, Spark fails every query on a reader
    that has this method. It checks whether the method is the base class's own function, so it is
    shown that one; if push-down is enabled, Spark simply calls the method.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: "SamsaReader") -> None:
        self._reader = reader

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        self._reader.worth = worth_reading(filters)
        return filters


class SamsaReader(DataSourceReader):
    def __init__(self, options: Options) -> None:
        self._options = options
        self._losses = Losses(options.fail_on_data_loss)
        self.worth = Worth()

    @property
    def pushFilters(self) -> Any:
        return _PushFilters(self)

    def partitions(self) -> Sequence[InputPartition]:
        # If there is no split, Spark makes one task without a split, which must read nothing.
        return asyncio.run(self._plan()) or [Split(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Split)
        return read(partition, self._options)

    async def _plan(self) -> list[Split]:
        options = self._options
        async with opened(options.ledger, options.objects) as access:
            partitions = await subscribed(access.ledger, options.subscription)
            heads = await look_at(access, partitions, options.read_committed)
            starts = await starting_offsets(
                access, partitions, heads, options.starting, options.late_start_is_latest
            )
            ends = await ending_offsets(access, partitions, heads, options.ending)
            planner = Planner(access, self._losses, PLANNED_BYTES, options.read_committed)
            wanted = {
                where: self._within(where, starts[where], ends[where], heads[where])
                for where in filter(self.worth.takes, partitions)
            }
            found = await in_order(
                planner.stretches(
                    where, partitions[where], *some, since=self.worth.since, head=heads[where]
                )
                for where, some in wanted.items()
            )
        return split([*chain(*found)], options.cuts)

    def _within(self, where: TopicPartition, first: int, end: int, head: Head) -> tuple[int, int]:
        """The part of the requested offsets that exists and is worth reading."""
        start, last = head.log_start, head.next_offset
        if first < start or first > last or end > last:
            asked, there = f"[{first}, {end})", f"[{start}, {last})"
            self._losses.report(f"{where}: offsets {asked} were asked for, and the log is {there}")
        first, end = max(first, start, self.worth.first), min(end, last, self.worth.end)
        return first, end
