"""Reading topics as a stream: offsets per partition, one micro-batch after the other.

Spark keeps the offsets in its checkpoint and asks again for any batch that did not finish, so a
batch is what lies between two offsets, whenever it is asked for. Offsets without records, as after
compaction, are passed over, and are no loss. The topics' ids are kept with the offsets: a topic
that was deleted and created again is a loss, and then read from its beginning.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any
from uuid import UUID

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from samsa.ports import Clock
from samsa.runtime.system import SystemClock

from .access import OpenLog, StoreAccess
from .bounds import Heads, look_at, starting_offsets
from .errors import SamsaError
from .limits import shares, steps, within
from .losses import Losses
from .options import Options
from .plan import PLANNED_BYTES, Planner, in_order
from .positions import (
    Json,
    Offsets,
    TopicIds,
    TopicPartition,
    from_json,
    ids_from_json,
    made_again,
    to_json,
)
from .read import read
from .splits import Split, Stretch, split
from .subscribed import Partitions, subscribed
from .trigger_delay import TriggerDelay


class SamsaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: Options, clock: Clock | None = None) -> None:
        self._options = options
        self._delay = TriggerDelay(
            options.min_offsets or 0, options.max_delay_ms, clock or SystemClock()
        )
        self._losses = Losses(options.fail_on_data_loss)
        self._log = OpenLog(options.ledger, options.objects)
        self._partitions: Partitions = {}
        """As they were at the last look."""
        self._ids: TopicIds = {}
        self._heads: Heads = {}
        self._latest: Offsets = {}
        self._target: Offsets | None = None
        """Where a query ends that reads what is available now."""

    # What Spark calls in the driver

    def initialOffset(self) -> Json:  # type: ignore[override]
        async def start(access: StoreAccess) -> Json:
            partitions = await subscribed(access.ledger, self._options.subscription)
            heads = await look_at(access, partitions, self._options.read_committed)
            late_is_latest = self._options.late_start_is_latest
            offsets = await starting_offsets(
                access, partitions, heads, self._options.starting, late_is_latest
            )
            return to_json(offsets, ids_of(partitions))

        return self._log.ask(start)

    def getDefaultReadLimit(self) -> ReadLimit:
        if self._options.max_offsets:
            return ReadMaxRows(self._options.max_offsets)
        if self._options.max_bytes:
            return ReadMaxBytes(self._options.max_bytes)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        heads = self._log.ask(self._look)
        self._target = {where: head.next_offset for where, head in heads.items()}

    def latestOffset(self, start: Json, limit: ReadLimit) -> Json:  # type: ignore[override]
        async def latest(access: StoreAccess) -> Json:
            heads = await self._look(access)
            again = made_again(start, self._ids)
            self._report(again)
            begin = _without(again, start)
            self._check(begin, heads)
            self._latest = {where: head.next_offset for where, head in heads.items()}
            if self._target is None and self._delay.holds(self._new(begin)):
                return start
            ends = await self._limited(access, begin, self._up_to_target(begin), limit)
            return to_json(ends, self._ids)

        return self._log.ask(latest)

    def reportLatestOffset(self) -> Json | None:  # type: ignore[override]
        return to_json(self._latest, self._ids) or None

    def partitions(self, start: Json, end: Json) -> Sequence[InputPartition]:
        # Those that were made again after the batch before are read from their beginning.
        begin = _without(made_again(start, ids_from_json(end)), start)

        async def plan(access: StoreAccess) -> list[Split]:
            planned = from_json(end)
            if not planned.keys() <= self._partitions.keys() or made_again(end, self._ids):
                await self._look(access)  # a batch of a query that was stopped
            # The batch is of the topic before; the next one begins with that of now.
            gone = made_again(end, self._ids)
            self._report(gone)
            until = _without(gone, end)
            committed = self._options.read_committed
            planner = Planner(access, self._losses, PLANNED_BYTES, committed)
            found = await in_order(
                self._stretches(planner, where, begin.get(where, 0), last)
                for where, last in until.items()
            )
            return split([*chain(*found)], self._options.cuts)

        return self._log.ask(plan)

    def stop(self) -> None:
        self._log.close()

    # What Spark calls in an executor

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Split)
        return read(partition, self._options)

    def __getstate__(self) -> dict[str, Any]:
        return {"_options": self._options}

    # Planning

    async def _look(self, access: StoreAccess) -> Heads:
        found = await subscribed(access.ledger, self._options.subscription, missing_is_error=False)
        self._partitions, self._ids = found, ids_of(found)
        self._heads = await look_at(access, found, self._options.read_committed)
        return self._heads

    def _report(self, again: set[str]) -> None:
        for name in sorted(again):
            self._losses.report(f"{name}: the topic was deleted, and made again")

    def _check(self, begin: Offsets, heads: Heads) -> None:
        for where, offset in begin.items():
            if where not in heads:
                self._losses.report(f"{where}: the topic was deleted")
            elif offset > heads[where].next_offset:
                what = f"ends at {heads[where].next_offset}; it was deleted, and made again"
                self._losses.report(f"{where}: offset {offset} was reached, and the log {what}")
            elif offset < heads[where].log_start:
                what = f"[{offset}, {heads[where].log_start}) were deleted before they were read"
                self._losses.report(f"{where}: the records {what}")

    def _new(self, begin: Offsets) -> int:
        """How many offsets there are to be read."""
        return sum(max(0, end - begin.get(where, 0)) for where, end in self._latest.items())

    def _up_to_target(self, begin: Offsets) -> Offsets:
        if self._target is None:
            return self._latest
        capped = {w: min(end, self._target.get(w, 0)) for w, end in self._latest.items()}
        return {w: max(end, begin.get(w, 0)) for w, end in capped.items() if end or w in begin}

    async def _limited(
        self, access: StoreAccess, begin: Offsets, latest: Offsets, limit: ReadLimit
    ) -> Offsets:
        starts = {where: min(begin.get(where, 0), end) for where, end in latest.items()}
        if isinstance(limit, ReadMaxRows):
            there = {where: end - starts[where] for where, end in latest.items()}
            given = shares(there, limit.max_rows)
            return {where: starts[where] + given[where] for where in latest}
        if isinstance(limit, ReadMaxBytes):
            return await self._within_bytes(access, starts, latest, limit.max_bytes)
        if isinstance(limit, ReadAllAvailable):
            return latest
        raise SamsaError(f"a limit of the kind {type(limit).__name__} is not supported")

    async def _within_bytes(
        self, access: StoreAccess, starts: Offsets, latest: Offsets, most: int
    ) -> Offsets:
        planner = Planner(access, self._losses, 0, self._options.read_committed)
        found = await in_order(
            planner.stretches(
                where,
                self._partitions[where],
                starts[where],
                end,
                most_bytes=most,
                head=self._heads[where],
            )
            for where, end in latest.items()
        )
        cuts = dict(zip(latest, map(steps, found), strict=True))
        given = shares({where: ways[-1][1] if ways else 0 for where, ways in cuts.items()}, most)
        ends = {
            where: within(ways, given[where], starts[where]) if ways else latest[where]
            for where, ways in cuts.items()
        }
        if ends == starts and any(cuts.values()):
            # A batch larger than the limit is read whole: otherwise the stream would stand still.
            where = next(where for where, ways in cuts.items() if ways)
            ends[where] = cuts[where][0][0]
        return ends

    async def _stretches(
        self, planner: Planner, where: TopicPartition, first: int, last: int
    ) -> list[Stretch]:
        partition = self._partitions.get(where)
        if partition is None:
            self._losses.report(f"{where}: the topic was deleted")
            return []
        start = self._heads[where].log_start
        if first > last:
            first = start  # made again, and the checkpoint is of a release that kept no ids
        if first < min(start, last):
            self._losses.report(f"{where}: the records [{first}, {start}) were deleted")
        return await planner.stretches(
            where, partition, max(first, start), last, head=self._heads[where]
        )


def ids_of(partitions: Partitions) -> dict[str, UUID]:
    return {where.topic: partition.topic_id for where, partition in partitions.items()}


def _without(topics: set[str], offsets: Json) -> Offsets:
    return {w: offset for w, offset in from_json(offsets).items() if w.topic not in topics}
