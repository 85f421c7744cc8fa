"""Coordinators of several processes over one store, and what members ask of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from samsa.coordinator.coordinator import Coordinator
from samsa.groups import GroupError, GroupSettings, Heartbeat, HeartbeatAnswer, Join, Joined
from samsa.local.memory import MemoryObjects
from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.topics.known_topics import KnownTopics

GROUP, SESSION_MS = "family", 10_000
numbers = count()


def nonce() -> str:
    return f"n{next(numbers)}"


class Clock:
    now = 1_700_000_000_000

    def now_ms(self) -> int:
        return self.now


class Site:
    """Processes on one store: each has a coordinator of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "ledger.db")
        self.clock = Clock()
        self.ledger = SqliteLedger(self.path)
        self.opened: list[SqliteGroups] = []

    def process(
        self,
        kind: type[SqliteGroups] = SqliteGroups,
        alone: Callable[[], bool] = lambda: False,
        **changes: Any,
    ) -> Coordinator:
        self.opened.append(kind(self.path, alone=alone))
        objects = MemoryObjects()
        stores = Stores(
            self.ledger,
            objects,
            ObjectJournal(self.ledger, objects, nonce),
            self.clock,
            LocalWakeups(f"127.0.0.1|{next(numbers)}"),
            nonce,
            Limits(backoff_ms=1),
        )
        settings = GroupSettings(**{"initial_rebalance_delay_ms": 0, **changes})
        return Coordinator(stores, self.opened[-1], settings, KnownTopics(self.ledger.topics))


@asynccontextmanager
async def a_site(folder: Path) -> AsyncIterator[Site]:
    site = Site(folder)
    yield site
    for groups in site.opened:
        await groups.close()
    await site.ledger.close()


def a_join(process: Coordinator, member_id: str = "") -> Join:
    return Join(
        member_id=member_id,
        instance_id=None,
        protocol_type="consumer",
        protocols=(("range", b""),),
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=60_000,
        client_id="client",
        client_host="/127.0.0.1",
        ticket=process.ticket(GROUP),
        waiter=process._stores.wakeups.address,
        requires_id=False,
    )


async def joined(process: Coordinator) -> str:
    answer = await process.ask(GROUP, a_join(process))
    assert isinstance(answer, Joined)
    assert answer.error is None
    return answer.member_id


async def beat(process: Coordinator, member_id: str, generation: int = 1) -> GroupError | None:
    answer = await process.ask(GROUP, Heartbeat(member_id, generation))
    assert isinstance(answer, HeartbeatAnswer)
    return answer.error
