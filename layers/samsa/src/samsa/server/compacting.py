"""Compaction of one partition, as its topic's configs ask for it."""

import logging
from collections.abc import Callable

from samsa.handlers.broker import Broker
from samsa.handlers.compacted import compaction_of
from samsa.ports import Partition, Topic

from .logs import event

log = logging.getLogger("samsa.upkeep")


async def compact(
    broker: Broker,
    topic: Topic,
    partition: Partition,
    out_of_time: Callable[[], bool] = lambda: False,
) -> None:
    """As many rounds as are due: more than one only if a log has very many keys."""
    rules = compaction_of(topic, broker.rules, broker.stores.limits.merge_after_ms)
    if rules is None:
        return
    while done := await broker.log.compactor.compact(partition, rules, out_of_time):
        broker.log.janitor.counts.compacted_bytes += done.before - done.after
        event(
            log,
            logging.INFO,
            "compacted" if done.finished else "compaction put off",
            topic=topic.name,
            partition=partition.number,
            before=done.before,
            after=done.after,
        )
        if not done.finished:
            return
