"""The janitor: on a schedule, it closes what writers left open and removes what is past its time.

A round looks at every partition: stale slots are fenced, retention moves the log's start, extents
and objects below it go; then doomed topics are buried and expired offsets forgotten. Any step may
be the last: the next round finds what is left. Objects are deleted a grace time after the log's
start has passed them, and this process remembers since when: a new one counts from the beginning.
"""

import asyncio
import itertools
import logging
import os
import secrets
import time
from collections.abc import Callable
from typing import Any

from samsa.handlers.broker import Broker, Rules
from samsa.handlers.configs import retention_hours
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Stores
from samsa.server.upkeep import tend
from samsa.server.urls import open_groups, open_ledger, open_objects

logging.getLogger().setLevel(logging.INFO)
LOOP = asyncio.new_event_loop()


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


def fresh_words() -> Callable[[], str]:
    """Words that no other process will use: a random one for this process, and a number."""
    process, numbers = secrets.token_hex(6), itertools.count()
    return lambda: f"{process}{next(numbers):x}"


async def open_broker() -> Broker:
    url = os.environ["SAMSA_LEDGER"]
    ledger = await open_ledger(url, fsync=False)
    objects = open_objects(os.environ["SAMSA_OBJECTS"], fsync=False, cache_bytes=0)
    # Nobody waits on this process; who waits elsewhere looks again by itself.
    stores = Stores(ledger, objects, SystemClock(), LocalWakeups(), fresh_words())
    rules = Rules(log_retention_hours=retention_hours(os.environ))
    return Broker(stores, "", rules, groups=open_groups(url, ledger, fsync=False))


async def round_of(broker: Broker) -> None:
    await tend(broker)
    await broker.log.drain()


BROKER = LOOP.run_until_complete(open_broker())


def handler(_event: dict[str, Any], _context: Any) -> dict[str, Any]:
    LOOP.run_until_complete(round_of(BROKER))
    return {}
