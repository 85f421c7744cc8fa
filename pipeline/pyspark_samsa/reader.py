"""Reading a topic as a table."""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from .access import Access, opened
from .bounds import Logs, ending_offsets, look_at, starting_offsets
from .errors import DataLoss
from .filters import Worth, worth_reading
from .options import Options
from .plan import stretches
from .positions import TopicPartition
from .read import read
from .splits import Split, Stretch, split
from .subscribed import subscribed

log = logging.getLogger("samsa.spark")


class _PushFilters:
    """`pushFilters`, for a Spark that may not want to hear of it.

    Unless `spark.sql.python.filterPushdown.enabled` is set, Spark fails every query on a reader
    that has this method. It finds out by looking whose function the method is, so we show it its
    own; with the switch on, it simply calls.
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
        self.worth = Worth()

    @property
    def pushFilters(self) -> Any:
        return _PushFilters(self)

    def partitions(self) -> Sequence[InputPartition]:
        # Spark makes one task with no split if there is none: it must be one that reads nothing.
        return asyncio.run(self._plan()) or [Split(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Split)
        return read(partition, self._options)

    async def _plan(self) -> list[Split]:
        options = self._options
        async with opened(options.ledger, options.objects) as access:
            partitions = await subscribed(access.ledger, options.subscription)
            logs = await look_at(access, partitions)
            starts = await starting_offsets(
                access, partitions, logs, options.starting, options.late_start_is_latest
            )
            ends = await ending_offsets(access, partitions, logs, options.ending)
            found: list[Stretch] = []
            for where in filter(self.worth.takes, partitions):
                first, end = self._within(where, starts[where], ends[where], logs)
                partition = partitions[where]
                found += await self._stretches(access, where, partition, first, end)
        return split(found, options.min_partitions, options.split_bytes)

    async def _stretches(
        self, access: Access, where: TopicPartition, partition: Any, first: int, end: int
    ) -> list[Stretch]:
        try:
            return await stretches(access, where, partition, first, end, self.worth.since)
        except DataLoss as loss:
            self._lost(str(loss))
            return []

    def _within(self, where: TopicPartition, first: int, end: int, logs: Logs) -> tuple[int, int]:
        """What there is of what was asked for, and is worth reading."""
        start, last = logs[where]
        if first < start or first > last or end > last:
            asked, there = f"[{first}, {end})", f"[{start}, {last})"
            self._lost(f"{where}: offsets {asked} were asked for, and the log is {there}")
        first, end = max(first, start, self.worth.first), min(end, last, self.worth.end)
        return first, end

    def _lost(self, what: str) -> None:
        if self._options.fail_on_data_loss:
            raise DataLoss(f"{what}. failOnDataLoss=false reads what there is")
        log.warning("%s", what)
