"""The server's background work: retention, merging, compaction, and forgetting what was deleted."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from samsa.handlers.broker import Broker, Rules
from samsa.handlers.configs import number
from samsa.handlers.internal import INTERNAL
from samsa.handlers.offsets import forget_expired, forget_offsets
from samsa.log import janitor
from samsa.log.merge import Budget
from samsa.log.retain import FOR_EVER, Retention
from samsa.log.runs import Sizes
from samsa.log.spills import SPILLS
from samsa.ports import Missing, Partition, Topic, Unavailable, UnknownPartition

from .bites import Bites
from .compacting import compact
from .logs import event

log = logging.getLogger("samsa.upkeep")
NEXT = "next partition"
SHARE = 4
"""A segment holds at most this part of what is kept by size; and half of that of what is kept by
time: it stays until its newest record may go."""
ROUND_BYTES = 1024 * 1024 * 1024
ROUND_SWAPS = 20_000
"""For each partition, before it is the next one's turn."""
REST_S = 0.002
COUNT_MS, COUNT_FAR_MS = 60_000, 3_600_000
"""How old the count of what a log is made of may be. In DynamoDB every look has its price."""

Told = Callable[[Topic, int, int, int], None]
"""Of a partition that was tended: its topic, its number; how many are done, and of how many."""


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


def round_budget(out_of_time: Callable[[], bool] = lambda: False, rest_s: float = REST_S) -> Budget:
    return Budget(ROUND_BYTES, ROUND_SWAPS, out_of_time, rest_s)


async def tend(broker: Broker, budget: Budget | None = None, told: Told | None = None) -> bool:
    """One round. What is unavailable now is left for the next, and so is what takes too long.
    Whether it had better follow at once."""
    budget, before = budget or round_budget(), figures(broker)
    topics = [topic for topic in await broker.catalog.all() if topic.name not in INTERNAL]
    more = await tend_topics(broker, topics, budget, told)
    await _forget(broker)
    _tell(broker, before)
    return more


async def tend_topics(
    broker: Broker, topics: list[Topic], budget: Budget, told: Told | None = None
) -> bool:
    """Their partitions in turn, each with a budget of its own, so that none is left out because
    another has too much to do. Who has no time for all of them goes on with the next."""
    every = [(topic, index) for topic in topics for index in range(topic.partitions)]
    first = await broker.stores.ledger.cursor(SPILLS, NEXT) % len(every) if every else 0
    done, more = 0, False
    for topic, index in every[first:] + every[:first]:
        if budget.out_of_time():
            break
        more |= await tend_partition(broker, topic, Partition(topic.id, index), replace(budget))
        done += 1
        if told is not None:
            told(topic, index, done, len(every))
        await asyncio.sleep(0)
    if done < len(every) or first:
        await broker.stores.ledger.move_cursor(SPILLS, NEXT, (first + done) % len(every))
    return more and not budget.out_of_time()


async def tend_partition(
    broker: Broker, topic: Topic, partition: Partition, budget: Budget
) -> bool:
    """Whether something was done, and there is more of it."""
    retention = rules_of(topic, broker.rules)
    sizes = sizes_of(topic, retention, broker.stores.limits.segment_bytes)
    try:
        more = await compact(broker, topic, partition, budget.out_of_time)
        merged = await broker.log.janitor.tend(partition, janitor.Rules(retention, sizes), budget)
        return more or merged.goes_on
    except UnknownPartition:
        broker.log.janitor.counts.forget(partition)
    except (Unavailable, Missing) as error:
        event(log, logging.INFO, "upkeep put off", topic=topic.name, why=error)
    return False


async def _forget(broker: Broker) -> None:
    for topic in await broker.stores.ledger.doomed_topics():
        await forget_offsets(broker, topic)
        await broker.log.retainer.bury(topic)
        for index in range(topic.partitions):
            broker.log.janitor.counts.forget(Partition(topic.id, index))
        event(log, logging.INFO, "topic buried", topic=topic.name, id=topic.id)
    await broker.stores.ledger.forget_producers(broker.stores.clock.now_ms())
    await broker.log.janitor.sweep_spills()
    gone = await forget_expired(broker)
    if gone:
        event(log, logging.INFO, "empty groups forgotten", groups=gone)


def figures(broker: Broker) -> dict[str, int | float]:
    """What the logs are made of, and what the janitor did about it since the process began."""
    counts, now = broker.log.janitor.counts, broker.stores.clock.now_ms()
    total = counts.total()
    return {
        "objects": total.objects,
        "bytes": total.size,
        "small_ratio": round(total.small / total.objects, 3) if total.objects else 0.0,
        "oldest_fence_s": round((now - min(counts.opened.values(), default=now)) / 1000, 1),
        "merged_extents": counts.extents,
        "copied_bytes": counts.copied_bytes,
        "reclaimed_bytes": broker.log.retainer.reclaimed + counts.compacted_bytes,
        "swept_objects": broker.log.sweeper.deleted,
        "orphans": counts.orphans,
    }


def _tell(broker: Broker, before: dict[str, int | float]) -> None:
    after = figures(broker)
    level = logging.INFO if after != before else logging.DEBUG
    event(log, level, "logs tended", **after)


async def tend_for_ever(broker: Broker, every_s: float) -> None:
    broker.log.compactor.run = Bites()
    broker.log.janitor.count_ms = COUNT_FAR_MS if broker.stores.objects.far else COUNT_MS
    while True:
        more = False
        try:
            more = await tend(broker)
        except Unavailable as error:
            event(log, logging.WARNING, "upkeep put off", why=error)
        except Exception:
            log.exception("upkeep failed")
        await asyncio.sleep(0 if more else every_s)
