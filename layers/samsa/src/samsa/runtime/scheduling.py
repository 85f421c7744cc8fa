"""When upkeep runs: in rounds over all partitions, and between them for topics with short times.

A round over all partitions starts every `--upkeep-interval`. A topic may have a short
`max.compaction.lag.ms` or `segment.ms` (if it is compacted) or `retention.ms` (if it is trimmed).
Its partitions get extra turns between the rounds: four times within that time, at most once a
second. These turns only compact and retain. They never take more than half of the time: topics
whose turns take long get them less often.

A topic that this process creates or changes is scheduled at once; one that another process creates
or changes, from the next round on.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from samsa.broker.broker import Broker, Rules
from samsa.log.failures import UpkeepStep
from samsa.log.retain import FOR_EVER
from samsa.ports import Partition, Topic, UnknownPartition
from samsa.topics.compacted import is_compacted
from samsa.topics.configs import number
from samsa.topics.internal import INTERNAL

from .sliced_executor import SlicedExecutor
from .upkeep import PartitionUpkeep, round_budget, rules_of, tend

log = logging.getLogger("samsa.upkeep")
COUNT_MS, COUNT_FAR_MS = 60_000, 3_600_000
"""How old the census of a log may be; older for remote stores, where every census costs money."""
LOOKS = 4
"""Extra turns within the time that a topic's configs name: due work waits for a quarter of it at
most."""
FLOOR_S = 1.0
ROUND_LIMIT_S = 24 * 3600.0


def look_every_s(topic: Topic, rules: Rules) -> float:
    """The time between two extra turns of a topic, by its configs."""
    times = []
    if is_compacted(topic):
        times += [number(topic, "max.compaction.lag.ms"), number(topic, "segment.ms")]
    kept_ms = rules_of(topic, rules).max_age_ms
    if kept_ms != FOR_EVER:
        times.append(kept_ms)
    return max(FLOOR_S, min(times, default=2**63) / 1000 / LOOKS)


@dataclass(slots=True)
class Soon:
    topic: Topic
    every_s: float
    at: float
    """The time of its next turn."""


@dataclass(slots=True)
class Schedule:
    """The topics that get extra turns between two rounds."""

    rules: Rules
    round_s: float
    soon: dict[str, Soon] = field(default_factory=dict)
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def see(self, topic: Topic) -> None:
        """Schedule a topic as it is now, or drop it if the rounds are enough."""
        known = self.soon.pop(topic.name, None)
        try:
            every_s = look_every_s(topic, self.rules)
        except ValueError:
            return  # a config is not a number: the round's steps log it
        if every_s >= self.round_s or topic.name in INTERNAL:
            return
        at = asyncio.get_running_loop().time() + every_s
        self.soon[topic.name] = Soon(topic, every_s, min(at, known.at) if known else at)
        self.woken.set()

    def see_all(self, topics: Sequence[Topic]) -> None:
        for name in self.soon.keys() - {topic.name for topic in topics}:
            del self.soon[name]
        for topic in topics:
            self.see(topic)

    def due(self) -> list[Soon]:
        now = asyncio.get_running_loop().time()
        return [soon for soon in self.soon.values() if soon.at <= now]

    async def wait(self) -> None:
        """Wait until a topic is due or the schedule changes."""
        self.woken.clear()
        at = min((soon.at for soon in self.soon.values()), default=None)
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(None if at is None else max(0.0, at - now)):
                await self.woken.wait()
        except TimeoutError:
            pass


def start_upkeep(broker: Broker, every_s: float) -> "list[asyncio.Task[None]]":
    """Tasks that run until they are cancelled. If one ends otherwise, that is logged."""
    schedule = Schedule(broker.rules, every_s)
    broker.catalog.on_change = schedule.see
    works = (tend_for_ever(broker, every_s, schedule), tend_soon_for_ever(broker, schedule))
    tasks = [asyncio.create_task(work) for work in works]
    for task in tasks:
        task.add_done_callback(_ended)
    return tasks


def _ended(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled():
        log.critical("upkeep ended: restart this process", exc_info=task.exception())


async def tend_for_ever(broker: Broker, every_s: float, schedule: Schedule | None = None) -> None:
    broker.log.compactor.run = SlicedExecutor()
    broker.log.janitor.count_ms = COUNT_FAR_MS if broker.stores.objects.remote else COUNT_MS
    seen = schedule.see_all if schedule is not None else None
    attempt = broker.log.janitor.failures.attempt
    while True:
        more = await attempt(
            UpkeepStep("round", ""), lambda: tend(broker, seen=seen), False, ROUND_LIMIT_S
        )
        await asyncio.sleep(0 if more else every_s)


async def tend_soon_for_ever(broker: Broker, schedule: Schedule) -> None:
    now = asyncio.get_running_loop().time
    while True:
        await schedule.wait()
        began = now()
        for soon in schedule.due():
            await _look(broker, soon.topic)
            soon.at = now() + soon.every_s
        await asyncio.sleep(max(now() - began, FLOOR_S / LOOKS))


async def _look(broker: Broker, topic: Topic) -> None:
    """Compact and retain, each partition in turn."""
    for index in range(topic.partitions):
        partition = Partition(topic.id, index)
        turn = PartitionUpkeep(broker, topic, partition, round_budget())
        try:
            if is_compacted(topic):
                await turn.compact()
            if rules_of(topic, broker.rules).max_age_ms != FOR_EVER:
                await turn.retain()
        except UnknownPartition:
            return  # the topic was deleted
        await asyncio.sleep(0)
