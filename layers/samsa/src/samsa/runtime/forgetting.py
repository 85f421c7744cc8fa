"""The end of a round of upkeep: remove old topics, producers, spills, windows and groups; finish
transactions that their processes left, and abort those whose time is up.

Transactional ids and groups may be too many for one round: Flink makes new ids all the time. So
each round begins with another one, and ends when its time is up: half of it is for each kind.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar
from zlib import crc32

from samsa.broker.broker import Broker
from samsa.coordinator.offsets import forget_expired, forget_offsets
from samsa.log.failures import UpkeepStep
from samsa.log.merge import RoundBudget
from samsa.ports import Partition, Topic

from .logs import event

log = logging.getLogger("samsa.upkeep")
T = TypeVar("T")
NO_TOPICS: Iterable[Topic] = ()
NO_GROUPS: Iterable[str] = ()


async def forget(broker: Broker, budget: RoundBudget) -> None:
    """Each is a step of its own: if one fails, the others still run."""
    ledger = broker.stores.ledger
    limit_s = max(0.0, budget.turn_s()) + budget.slack_s
    began = asyncio.get_running_loop().time()

    async def step(kind: str, name: str, work: Callable[[], Awaitable[T]], otherwise: T) -> T:
        attempt = broker.log.janitor.failures.attempt
        return await attempt(UpkeepStep(kind, name), work, otherwise, limit_s)

    for topic in await step("doomed topics", "", ledger.doomed_topics, NO_TOPICS):
        await step("burial", topic.name, partial(_bury, broker, topic), None)
    now = broker.stores.clock.now_ms()
    await step("producers", "", lambda: ledger.forget_producers(now), 0)
    await step("spills", "", broker.log.janitor.sweep_spills, None)
    await step("windows", "", broker.log.janitor.sweep_windows, None)
    if broker.groups is None:
        return
    expiry_ms = broker.rules.transactional_id_expiration_ms
    ids = await step("transactional ids", "", broker.transactions.all_ids, NO_GROUPS)
    async for one in _in_turn(broker, ids, began + limit_s / 2):
        tend = partial(broker.transactions.tend, one, expiry_ms)
        await step("transaction", one, tend, False)
    gone = 0
    groups = await step("groups", "", broker.groups.group_ids, NO_GROUPS)
    async for group in _in_turn(broker, groups, began + limit_s):
        gone += await step("group", group, partial(forget_expired, broker, group), False)
    if gone:
        event(log, logging.INFO, "empty groups forgotten", groups=gone)


async def _in_turn(broker: Broker, names: Iterable[str], until_s: float) -> AsyncIterator[str]:
    """From a random one on, as long as there is time."""
    found, now = list(names), asyncio.get_running_loop().time
    start = crc32(broker.stores.nonce().encode()) % max(1, len(found))
    for name in found[start:] + found[:start]:
        if now() >= until_s:
            return
        yield name
        await asyncio.sleep(0)  # on one machine nothing else waits


async def _bury(broker: Broker, topic: Topic) -> None:
    await forget_offsets(broker, topic)
    await broker.log.retainer.bury(topic)
    for index in range(topic.partitions):
        broker.log.janitor.counts.forget(Partition(topic.id, index))
    event(log, logging.INFO, "topic buried", topic=topic.name, id=topic.id)
