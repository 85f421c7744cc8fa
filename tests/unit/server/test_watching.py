"""Heads that requests wait for are looked at, where an append may come without a wake-up."""

from uuid import uuid4

import pytest

from samsa.local.wakeups import LocalWakeups
from samsa.ports import Head, Partition, Unavailable, UnknownPartition
from samsa_broker.server import watching
from samsa_broker.server.watching import Watching

TOPIC = uuid4()
PARTITION = Partition(TOPIC, 0)


class Ledger:
    def __init__(self) -> None:
        self.ends: dict[Partition, int] = {}
        self.looked_at: list[Partition] = []
        self.fails: Exception | None = None

    async def head(self, partition: Partition) -> Head:
        self.looked_at.append(partition)
        if self.fails is not None:
            raise self.fails
        return Head(self.ends.get(partition, 0), 0, {}, {})


class Given:
    def __init__(self) -> None:
        self.ledger = Ledger()
        self.wakeups = LocalWakeups()
        self.shared = True
        self.watching = Watching(self.ledger, self.wakeups, lambda: self.shared)  # type: ignore[arg-type]

    async def looks(self, times: int = 1) -> int:
        """How many heads were read."""
        before = len(self.ledger.looked_at)
        for _ in range(times):
            await self.watching.look()
        return len(self.ledger.looked_at) - before


@pytest.fixture
def given() -> Given:
    return Given()


async def test_a_request_that_waits_for_less_than_a_look_costs_no_read(given: Given):
    for _ in range(5):
        with given.wakeups.subscribe([PARTITION]):
            assert await given.looks() == 0


async def test_a_request_is_woken_when_the_partition_grew_and_not_otherwise(given: Given):
    with given.wakeups.subscribe([PARTITION]) as waiter:
        assert await given.looks(2) == 1
        assert await waiter.wait(0)  # nobody knows what came before the first look
        assert await given.looks(3) == 3
        assert not await waiter.wait(0)
        given.ledger.ends[PARTITION] = 7
        await given.looks()
        assert await waiter.wait(0)


async def test_a_request_that_comes_later_hears_of_what_came_between(given: Given):
    with given.wakeups.subscribe([PARTITION]):
        await given.looks(3)
    await given.looks()
    with given.wakeups.subscribe([PARTITION]) as later:
        await given.looks(2)
        assert await later.wait(0)


async def test_nobody_looks_where_nobody_else_appends(given: Given):
    given.shared = False
    with given.wakeups.subscribe([PARTITION]):
        assert await given.looks(5) == 0


async def test_a_partition_that_is_gone_wakes_and_a_store_that_is_away_does_not(given: Given):
    with given.wakeups.subscribe([PARTITION]) as waiter:
        given.ledger.fails = Unavailable("away")
        assert await given.looks(3) == 2
        assert not await waiter.wait(0)
        given.ledger.fails = UnknownPartition("gone")
        await given.looks()
        assert await waiter.wait(0)


async def test_of_many_partitions_each_has_its_turn(given: Given, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watching, "MOST_A_ROUND", 10)
    many = [Partition(TOPIC, number) for number in range(35)]
    with given.wakeups.subscribe(many):
        await given.looks()
        assert await given.looks() == 10
        await given.looks(3)
    assert set(given.ledger.looked_at) == set(many)
