"""The server's background work: retention, compaction, and forgetting what was deleted."""

import asyncio
import logging

from samsa.handlers.broker import Broker, Rules
from samsa.handlers.configs import number
from samsa.handlers.internal import INTERNAL
from samsa.handlers.offsets import forget_expired, forget_offsets
from samsa.log.retain import FOR_EVER, Retention
from samsa.ports import Missing, Partition, Topic, Unavailable, UnknownPartition

from .bites import Bites
from .compacting import compact
from .logs import event

log = logging.getLogger("samsa.upkeep")


def rules_of(topic: Topic, rules: Rules) -> Retention:
    policy = topic.configs.get("cleanup.policy", "delete")
    if "delete" not in policy:
        return Retention(FOR_EVER, FOR_EVER)
    return Retention(number(topic, "retention.ms", rules), number(topic, "retention.bytes", rules))


async def tend(broker: Broker) -> None:
    """One round. What is unavailable now is left for the next."""
    for topic in await broker.catalog.all():
        if topic.name in INTERNAL:
            continue  # nobody writes to it, and it has many partitions
        rules = rules_of(topic, broker.rules)
        for index in range(topic.partitions):
            partition = Partition(topic.id, index)
            try:
                await broker.log.retainer.retain(partition, rules)
                await compact(broker, topic, partition)
            except (Unavailable, UnknownPartition, Missing) as error:
                event(log, logging.INFO, "upkeep put off", topic=topic.name, why=error)
            await asyncio.sleep(0)
    for topic in await broker.stores.ledger.doomed_topics():
        await forget_offsets(broker, topic)
        await broker.log.retainer.bury(topic)
        event(log, logging.INFO, "topic buried", topic=topic.name, id=topic.id)
    await broker.stores.ledger.forget_producers(broker.stores.clock.now_ms())
    gone = await forget_expired(broker)
    if gone:
        event(log, logging.INFO, "empty groups forgotten", groups=gone)


async def tend_for_ever(broker: Broker, every_s: float) -> None:
    broker.log.compactor.run = Bites()
    while True:
        try:
            await tend(broker)
        except Unavailable as error:
            event(log, logging.WARNING, "upkeep put off", why=error)
        except Exception:
            log.exception("upkeep failed")
        await asyncio.sleep(every_s)
