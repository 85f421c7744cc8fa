"""The janitor: on a schedule, it settles entries of heads, merges, and removes what is old.

A round visits one partition after the other: retention moves the log's start, what is past its
grace is deleted, heads are settled, small objects become segments, compacted topics are compacted.
Then doomed topics are buried and expired offsets are removed. While there is more to do and time is
left, another round follows. A round may stop after any step: the next one finds what is left. If a
round runs out of time, the next begins with the first partition that it did not reach: the ledger
remembers which, and since when objects are old.

A step that fails does not stop the others. When they are done the invocation fails, so that it is
counted among the function's errors; the log has a line for each step.
"""

import asyncio
import logging
import os
from dataclasses import replace
from typing import Any

from samsa.broker.broker import Broker, Rules
from samsa.local.wakeups import LocalWakeups
from samsa.log.merge import RoundBudget
from samsa.log.stores import Stores
from samsa.runtime.store_urls import open_groups, open_journal, open_ledger, open_objects
from samsa.runtime.system import SystemClock, fresh_words
from samsa.runtime.upkeep import round_budget, tend
from samsa.topics.configs import retention_hours

logging.getLogger().setLevel(logging.INFO)
LOOP = asyncio.new_event_loop()
ENOUGH_MS = 60_000
LAST_MS = 15_000
"""How much time of an invocation is left when a step that hangs is cancelled."""


class UpkeepFailed(Exception):
    """Some steps failed; all others are done."""


async def open_broker() -> Broker:
    url = os.environ["SAMSA_LEDGER"]
    ledger = await open_ledger(url, fsync=False)
    objects = open_objects(os.environ["SAMSA_OBJECTS"], fsync=False, cache_bytes=0)
    words = fresh_words()
    journal = open_journal(ledger, objects, words, fsync=False)
    # No request waits in this process; requests that wait elsewhere look again by themselves.
    stores = Stores(ledger, objects, journal, SystemClock(), LocalWakeups(), words)
    rules = Rules(log_retention_hours=retention_hours(os.environ))
    return Broker(stores, "", rules, groups=open_groups(url, ledger, fsync=False))


async def round_of(broker: Broker, context: Any) -> None:
    failed = broker.log.janitor.failures.failed
    before = failed.copy()
    while await tend(broker, _budget(context)):
        pass
    await broker.log.drain()
    if failed != before:
        raise UpkeepFailed(f"failed steps: {dict(failed - before)}")


def _budget(context: Any) -> RoundBudget:
    budget = round_budget(lambda: _out_of_time(context), rest_s=0)
    if context is None:
        return budget
    slack_s = (ENOUGH_MS - LAST_MS) / 1000
    return replace(budget, turn_s=lambda: _left_ms(context) / 1000, slack_s=slack_s)


def _left_ms(context: Any) -> int:
    """The time that is left for work that begins now."""
    return int(context.get_remaining_time_in_millis()) - ENOUGH_MS


def _out_of_time(context: Any) -> bool:
    """Whether work that begins now might not finish: copying a segment takes seconds."""
    return context is not None and _left_ms(context) < 0


BROKER = LOOP.run_until_complete(open_broker())


def handler(_event: dict[str, Any], context: Any) -> dict[str, Any]:
    LOOP.run_until_complete(round_of(BROKER, context))
    return {}
