"""Compaction of one partition, as its topic's configs ask for it."""

import logging
from collections.abc import Callable

from samsa.broker.broker import Broker
from samsa.ports import Partition, Topic
from samsa.topics.compacted import compaction_of

from .logs import event

log = logging.getLogger("samsa.upkeep")


async def compact(
    broker: Broker,
    topic: Topic,
    partition: Partition,
    out_of_time: Callable[[], bool] = lambda: False,
) -> bool:
    """One round of compaction, if it is due. Returns whether this one left work for another round.
    Not whether another is due: for a log with constant writes one always is, and other partitions
    wait for their turn."""
    rules = compaction_of(topic, broker.rules, broker.stores.limits.merge_after_ms)
    if rules is None:
        return False
    done = await broker.log.compactor.compact(partition, rules, out_of_time)
    if done is None:
        return False
    broker.log.janitor.counts.compacted_bytes += done.before - done.after
    event(
        log,
        logging.INFO if done.before != done.after else logging.DEBUG,
        "compacted" if done.finished else "compaction put off",
        topic=topic.name,
        partition=partition.number,
        before=done.before,
        after=done.after,
    )
    return done.more
