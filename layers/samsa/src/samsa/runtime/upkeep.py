"""Rounds of upkeep: compaction, retention, merging, and forgetting what was deleted.

A round gives each partition a turn, which has several steps. A step that fails is logged, counted
and tried again later (`log/failures.py`); the round continues.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from samsa.broker.broker import Broker, Rules
from samsa.log import janitor
from samsa.log.failures import UpkeepStep
from samsa.log.merge import Merged, RoundBudget
from samsa.log.retain import FOR_EVER, Retention
from samsa.log.runs import Sizes
from samsa.log.spills import SPILLS
from samsa.ports import Partition, Topic, UnknownPartition
from samsa.topics.configs import number
from samsa.topics.internal import INTERNAL

from .compacting import compact
from .forgetting import forget
from .logs import event

log = logging.getLogger("samsa.upkeep")
NEXT = "next partition"
SHARE = 4
"""A segment has at most 1/SHARE of the bytes that retention keeps, and spans at most half of that
part of the time that retention keeps: a segment stays until its newest record expires."""
ROUND_BYTES = 1024 * 1024 * 1024
ROUND_SWAPS = 20_000
"""What one partition may copy and swap, before the turn of the next one."""
REST_S = 0.002
MINUTE_MS = 60_000
STORE_IS_DOWN = 40
"""After this many steps in a row were put off, the rest of the round is left to the next round."""
T = TypeVar("T")

Told = Callable[[Topic, int, int, int], None]
"""Called after each partition's turn: topic, partition number, turns done, turns of the round."""


def rules_of(topic: Topic, rules: Rules) -> Retention:
    policy = topic.configs.get("cleanup.policy", "delete")
    if "delete" not in policy:
        return Retention(FOR_EVER, FOR_EVER)
    return Retention(number(topic, "retention.ms", rules), number(topic, "retention.bytes", rules))


def sizes_of(topic: Topic, retention: Retention, largest: int) -> Sizes:
    segment = min(largest, number(topic, "segment.bytes"))
    if retention.max_bytes != FOR_EVER:
        segment = min(segment, max(1, retention.max_bytes // SHARE))
    if retention.max_age_ms == FOR_EVER:
        return Sizes(segment)
    return Sizes(segment, span_ms=retention.max_age_ms // (2 * SHARE))


def round_budget(
    out_of_time: Callable[[], bool] = lambda: False, rest_s: float = REST_S
) -> RoundBudget:
    return RoundBudget(ROUND_BYTES, ROUND_SWAPS, out_of_time, rest_s)


async def tend(
    broker: Broker,
    budget: RoundBudget | None = None,
    told: Told | None = None,
    seen: Callable[[Sequence[Topic]], None] | None = None,
) -> bool:
    """One round. Work that fails, is unavailable or takes too long is left to another round.
    Returns whether the next round should follow at once."""
    budget, before = budget or round_budget(), figures(broker)
    topics = [topic for topic in await broker.catalog.all() if topic.name not in INTERNAL]
    if seen is not None:
        seen(topics)
    more = await tend_topics(broker, topics, budget, told)
    await forget(broker, budget)
    _tell(broker, before)
    return more


async def tend_topics(
    broker: Broker, topics: Sequence[Topic], budget: RoundBudget, told: Told | None = None
) -> bool:
    """Tend their partitions in turn, each with a budget of its own, so that a partition with much
    work does not delay the others. A round that ends early leaves the rest to the next round."""
    every = [(topic, index) for topic in topics for index in range(topic.partitions)]
    left_at = await broker.stores.ledger.cursor(SPILLS, NEXT) if every else 0
    first = await _first(broker, len(every), left_at)
    failures, done, more = broker.log.janitor.failures, 0, False
    failures.put_off_in_a_row = 0
    for topic, index in every[first:] + every[:first]:
        if budget.out_of_time() or failures.put_off_in_a_row >= STORE_IS_DOWN:
            break
        more |= await tend_partition(broker, topic, Partition(topic.id, index), replace(budget))
        done += 1
        if told is not None:
            told(topic, index, done, len(every))
        await asyncio.sleep(0)
    if done < len(every):
        await broker.stores.ledger.move_cursor(
            SPILLS, NEXT, (first + done) % len(every) or len(every)
        )
    elif left_at:
        await broker.stores.ledger.move_cursor(SPILLS, NEXT, 0)
    return more and done == len(every) and not budget.out_of_time()


async def _first(broker: Broker, partitions: int, left_at: int) -> int:
    """The partition that a round begins with: where the last round was left, or one that depends on
    the minute. So a partition whose upkeep kills the process does not stop that of all others."""
    if not left_at:
        return broker.stores.clock.now_ms() // MINUTE_MS % max(1, partitions)
    await broker.stores.ledger.move_cursor(SPILLS, NEXT, left_at % partitions + 1)
    return left_at % partitions


async def tend_partition(
    broker: Broker, topic: Topic, partition: Partition, budget: RoundBudget
) -> bool:
    """Returns whether work was done and more is left. A failing step does not stop the others."""
    turn = PartitionUpkeep(broker, topic, partition, budget)
    try:
        more = await turn.compact()
        await turn.retain()
        merged = await turn.merge()
        await turn.inspect()
        return more or merged.goes_on
    except UnknownPartition:
        broker.log.janitor.counts.forget(partition)
    return False


class PartitionUpkeep:
    """One partition's turn. A step ends when the time is up, or is cancelled a while later."""

    def __init__(
        self, broker: Broker, topic: Topic, partition: Partition, budget: RoundBudget
    ) -> None:
        self._broker = broker
        self._topic = topic
        self._partition = partition
        turn_s = max(0.0, budget.turn_s())
        self._limit_s = turn_s + budget.slack_s
        now, out_of_time = asyncio.get_running_loop().time, budget.out_of_time
        until = now() + turn_s
        self._budget = replace(budget, out_of_time=lambda: out_of_time() or now() >= until)

    def compact(self) -> Awaitable[bool]:
        out_of_time = self._budget.out_of_time
        return self._step(
            "compaction",
            lambda: compact(self._broker, self._topic, self._partition, out_of_time),
            False,
        )

    def retain(self) -> Awaitable[None]:
        retain = self._broker.log.janitor.retain
        return self._step("retention", lambda: retain(self._partition, self._rules()), None)

    def merge(self) -> Awaitable[Merged]:
        merge = self._broker.log.janitor.merge
        return self._step(
            "merge", lambda: merge(self._partition, self._rules(), self._budget), Merged()
        )

    def inspect(self) -> Awaitable[None]:
        inspect = self._broker.log.janitor.inspect
        return self._step("inspection", lambda: inspect(self._partition, self._budget), None)

    def _rules(self) -> janitor.TopicRules:
        retention = rules_of(self._topic, self._broker.rules)
        largest = self._broker.stores.limits.segment_bytes
        return janitor.TopicRules(retention, sizes_of(self._topic, retention, largest))

    async def _step(self, kind: str, work: Callable[[], Awaitable[T]], otherwise: T) -> T:
        step = UpkeepStep(kind, self._topic.name, self._partition.number)
        failures = self._broker.log.janitor.failures
        return await failures.attempt(step, work, otherwise, self._limit_s)


def figures(broker: Broker) -> dict[str, int | float]:
    """What the logs are made of, and what the janitor has done since the process began."""
    counts = broker.log.janitor.counts
    total = counts.total()
    return {
        "objects": total.objects,
        "bytes": total.size,
        "small_ratio": round(total.small / total.objects, 3) if total.objects else 0.0,
        "head_bytes": broker.stores.journal.head_bytes,
        "merged_extents": counts.extents,
        "copied_bytes": counts.copied_bytes,
        "reclaimed_bytes": broker.log.retainer.reclaimed + counts.compacted_bytes,
        "swept_objects": broker.log.sweeper.deleted,
        "orphans": counts.orphans,
        "failures": broker.log.janitor.failures.failed.total(),
    }


def _tell(broker: Broker, before: dict[str, int | float]) -> None:
    after = figures(broker)
    level = logging.INFO if after != before else logging.DEBUG
    event(log, level, "logs tended", **after)
