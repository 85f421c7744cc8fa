"""samsa janitor: does by hand what brokers and the janitor function do by themselves.

It works on the stores and needs no broker; a running broker is not disturbed.
"""

import argparse
import asyncio
import sqlite3
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from samsa.ports import Topic, Unavailable

from .client import ClientError
from .options import add_command, add_number, add_stores, store_urls

EXAMPLES = """
examples:
  samsa janitor run                          all topics in ./samsa-data
  samsa janitor run --topic orders           one of them; may be repeated
  samsa janitor run --ledger 'dynamodb://samsa?region=eu-central-1' --objects 's3://bucket/samsa'
"""
BAR = 24
TURN_S = 24 * 3600.0
"""The time for one partition: a run by hand does all of its work at once."""


def add_to(commands: Any) -> None:
    janitor = add_command(
        commands,
        "janitor",
        brief="merge, compact and sweep by hand",
        description="What brokers and the janitor function do by themselves now and then, by hand: "
        "before a backup, say, or to see how much there is to do.",
        epilog=EXAMPLES,
    )
    actions = janitor.add_subparsers(dest="action", metavar="ACTION", required=True)
    run = add_command(
        actions,
        "run",
        brief="one round",
        description="One round over all partitions, or those of some topics: settle what writers "
        "left in heads, apply retention, merge small objects, compact, and delete what is past its "
        "time. Another round follows while there is more to do. If a run is stopped, the next one "
        "continues it. A step that fails is one line and does not stop the others; the exit "
        "status is then 1.",
        epilog=EXAMPLES,
    )
    run.add_argument(
        "--topic", action="append", metavar="NAME", dest="topics", help="all if none is named"
    )
    add_stores(run)
    settled = "how old records are before they are merged or compacted"
    add_number(run, "--settle-time", float, 60.0, settled, "SECONDS")
    run.set_defaults(run=run_round)


def run_round(given: argparse.Namespace) -> int:
    from samsa.runtime.store_address import BadUrl

    try:
        return asyncio.run(_round(given))
    except BadUrl as error:
        raise ClientError(str(error)) from None
    except (OSError, sqlite3.Error, Unavailable) as error:
        raise ClientError(f"the stores are not available: {error}") from None


async def _round(given: argparse.Namespace) -> int:
    from samsa.broker.broker import Broker
    from samsa.local.wakeups import LocalWakeups
    from samsa.log.stores import Limits
    from samsa.runtime.logs import set_up
    from samsa.runtime.opening import opened
    from samsa.runtime.probing import check_stores
    from samsa.runtime.upkeep import figures, round_budget, tend, tend_topics

    set_up("warning", "text")
    limits, progress = Limits(merge_after_ms=round(1000 * given.settle_time)), JanitorProgress()
    urls = _urls(given)
    await check_stores(*urls)
    async with opened(*urls, LocalWakeups(), limits) as found:
        broker = Broker(found.stores, "", groups=found.groups)
        broker.log.janitor.count_ms = 0
        topics = [await _topic(broker, name) for name in given.topics or ()]
        try:
            more = True
            while more:
                budget = replace(round_budget(rest_s=0), turn_s=lambda: TURN_S)
                if topics:
                    more = await tend_topics(broker, topics, budget, progress.tell)
                else:
                    more = await tend(broker, budget, progress.tell)
            await broker.log.drain()
        finally:
            progress.end()
    for name, value in figures(broker).items():
        print(f"{name.replace('_', ' ')}\t{value:,}")
    return 1 if broker.log.janitor.failures.failed else 0


def _urls(given: argparse.Namespace) -> tuple[str, str]:
    data = Path(given.data).absolute()
    if given.ledger is None and not (data / "ledger.db").exists():
        raise ClientError(f"there is no ledger in {data}; --data or --ledger says where it is")
    return store_urls(given)


async def _topic(broker: Any, name: str) -> Topic:
    topic: Topic | None = await broker.stores.ledger.topic(name)
    if topic is None:
        raise ClientError(f"there is no topic {name!r}")
    return topic


class JanitorProgress:
    """A progress bar on a terminal; elsewhere a line for each topic."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._topic: Topic | None = None
        self._drawn = sys.stderr.isatty()

    def tell(self, topic: Topic, index: int, done: int, total: int) -> None:
        if self._drawn:
            full = BAR * done // total
            seconds = time.monotonic() - self._started
            line = f"[{'#' * full}{'.' * (BAR - full)}] {done}/{total} {topic.name}/{index}"
            print(f"\r\x1b[K{line}  {seconds:.0f} s", end="", file=sys.stderr, flush=True)
        elif index == topic.partitions - 1:
            print(f"{topic.name}: {topic.partitions} partition(s)", file=sys.stderr)

    def end(self) -> None:
        if self._drawn:
            print(file=sys.stderr)
