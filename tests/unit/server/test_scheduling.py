"""Topics that ask to be looked at before the next round: which, how often, and at what cost."""

import asyncio
import logging
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from unit.log.compacting import TIME, keyed
from unit.log.given import Given, a_log

from samsa.broker.broker import Broker, Rules
from samsa.local.sqlite_groups import SqliteGroups
from samsa.log.compact_progress import CLEANED
from samsa.log.layout import Batch
from samsa.ports import Partition, Topic
from samsa.records import read_header
from samsa.runtime import scheduling
from samsa.runtime.scheduling import FLOOR_S, Schedule, look_every_s, start_upkeep
from samsa.topics.compacted import compaction_of

COMPACT = {"cleanup.policy": "compact"}
BRISK = {**COMPACT, "max.compaction.lag.ms": "15000", "min.cleanable.dirty.ratio": "0.9"}


def a_topic(number: int = 5, **configs: str) -> Topic:
    return Topic(f"topic-{number}", UUID(int=number), 1, 0, configs)


@pytest.mark.parametrize(
    ("configs", "seconds"),
    [
        ({}, 604_800 / 4),
        ({"retention.ms": "-1"}, 2**63 / 4_000),
        ({"retention.ms": "60000"}, 15.0),
        ({"retention.ms": "0"}, FLOOR_S),
        (COMPACT, 604_800 / 4),
        ({**COMPACT, "max.compaction.lag.ms": "15000"}, 3.75),
        ({**COMPACT, "max.compaction.lag.ms": "100"}, FLOOR_S),
        ({**COMPACT, "segment.ms": "10000"}, 2.5),
        ({**COMPACT, "retention.ms": "1000"}, 604_800 / 4),
        ({"cleanup.policy": "compact,delete", "retention.ms": "8000"}, 2.0),
        ({"max.compaction.lag.ms": "100", "segment.ms": "100"}, 604_800 / 4),
    ],
)
def test_a_topic_is_looked_at_four_times_in_the_shortest_time_that_it_names(configs, seconds):
    assert look_every_s(a_topic(**configs), Rules()) == seconds


async def test_only_topics_that_ask_for_it_are_looked_at_between_rounds():
    schedule = Schedule(Rules(), 300.0)
    schedule.see_all([a_topic(n, **(BRISK if n == 7 else {})) for n in range(1_000)])
    assert list(schedule.soon) == ["topic-7"]


async def test_a_topic_that_no_longer_asks_for_it_or_is_gone_is_left_alone():
    schedule = Schedule(Rules(), 300.0)
    schedule.see(a_topic(1, **BRISK))
    schedule.see(a_topic(2, **BRISK))
    schedule.see(a_topic(1))
    assert list(schedule.soon) == ["topic-2"]
    schedule.see_all([a_topic(1)])
    assert list(schedule.soon) == []


async def test_a_round_does_not_put_off_the_next_look(monkeypatch):
    schedule = Schedule(Rules(), 300.0)
    schedule.see(a_topic(1, **BRISK))
    at = schedule.soon["topic-1"].at
    await asyncio.sleep(0.01)
    schedule.see_all([a_topic(1, **BRISK)])
    assert schedule.soon["topic-1"].at == at


def test_what_is_younger_than_its_longest_lag_is_what_is_left_alone():
    brisk = compaction_of(a_topic(**BRISK), Rules(), 60_000)
    assert brisk is not None
    assert brisk.active_ms == 15_000
    usual = compaction_of(a_topic(**COMPACT), Rules(), 60_000)
    assert usual is not None
    assert usual.active_ms == 60_000


async def a_broker() -> tuple[Given, Broker]:
    given = await a_log()
    given.clock.now = TIME
    return given, Broker(given.stores, "", groups=SqliteGroups(":memory:"))


async def put(given: Given, partition: Partition, data: bytes) -> None:
    batch = bytearray(data)
    await given.log.append_once(partition, [Batch(read_header(batch), memoryview(batch))])


async def looks(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> "asyncio.Queue[str]":
    """The names of the topics that are looked at between rounds, as they are."""
    found: asyncio.Queue[str] = asyncio.Queue()
    real = scheduling._look

    async def look(broker: Broker, topic: Topic) -> None:
        await real(broker, topic)
        found.put_nowait(topic.name)

    monkeypatch.setattr(scheduling, "_look", look)
    monkeypatch.setattr(scheduling, "FLOOR_S", 0.001)
    monkeypatch.setattr(scheduling, "LOOKS", 100_000)
    return found


async def test_a_topic_that_is_made_after_a_round_is_compacted_when_it_is_due(monkeypatch):
    given, broker = await a_broker()
    looked = await looks(broker, monkeypatch)
    tasks = start_upkeep(broker, 3_600)
    await asyncio.sleep(0)
    topic = await broker.catalog.create("brisk", 1, BRISK)
    partition = Partition(topic.id, 0)
    await put(given, partition, keyed(0, (b"a", b"1"), (b"a", b"2")))
    assert await looked.get() == "brisk"
    assert await given.ledger.cursor(partition, CLEANED) == 0
    given.clock.now += 15_001
    while await given.ledger.cursor(partition, CLEANED) == 0:
        await asyncio.wait_for(looked.get(), 20)
    for task in tasks:
        task.cancel()


async def test_a_topic_that_is_changed_is_looked_at_as_it_is_now(monkeypatch):
    given, broker = await a_broker()
    looked = await looks(broker, monkeypatch)
    tasks = start_upkeep(broker, 3_600)
    await asyncio.sleep(0)
    topic = await broker.catalog.create("later", 1, {"retention.ms": "-1"})
    await put(given, Partition(topic.id, 0), keyed(0, (b"a", b"1")))
    given.clock.now += 1_000
    await broker.catalog.change("later", lambda old: replace(old, configs={"retention.ms": "500"}))
    assert await asyncio.wait_for(looked.get(), 20) == "later"
    assert (await given.ledger.head(Partition(topic.id, 0))).log_start == 1
    for task in tasks:
        task.cancel()


async def test_looks_take_no_more_than_half_of_the_time(monkeypatch):
    _, broker = await a_broker()
    loop = asyncio.get_running_loop()
    slept: list[float] = []
    # Not the machine's time: where a sum passes a power of two, it is rounded, and 40 is 39.999….
    clock = [1_000.0]
    monkeypatch.setattr(loop, "time", lambda: clock[0], raising=False)
    schedule = Schedule(Rules(), 300.0)
    schedule.see(a_topic(1, **BRISK))

    async def look(_broker: Any, _topic: Any) -> None:
        clock[0] += 40.0

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds
        if len(slept) == 3:
            raise asyncio.CancelledError

    async def wait(self: Schedule) -> None:
        clock[0] = max(clock[0], min(soon.at for soon in self.soon.values()))

    monkeypatch.setattr(scheduling, "_look", look)
    monkeypatch.setattr(Schedule, "wait", wait)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        await scheduling.tend_soon_for_ever(broker, schedule)
    assert slept == [40.0, 40.0, 40.0]


async def test_nothing_is_asked_of_the_ledger_for_topics_that_are_not_due():
    given, broker = await a_broker()
    schedule = Schedule(Rules(), 300.0)
    for number in range(1_000):
        schedule.see(a_topic(number, **BRISK))
    task = asyncio.create_task(scheduling.tend_soon_for_ever(broker, schedule))
    before = dict(given.ledger.calls)
    for _ in range(50):
        await asyncio.sleep(0.001)
    assert dict(given.ledger.calls) == before
    task.cancel()


async def test_a_compaction_that_changes_nothing_is_no_line_in_the_log(caplog):
    caplog.set_level(logging.INFO, "samsa.upkeep")
    given, broker = await a_broker()
    topic = await broker.catalog.create("tidy", 1, {**BRISK, "min.cleanable.dirty.ratio": "0"})
    partition = Partition(topic.id, 0)
    await put(given, partition, keyed(0, (b"a", b"1"), (b"b", b"2")))
    given.clock.now += 60_001
    await scheduling._look(broker, topic)
    assert await given.ledger.cursor(partition, CLEANED) == 2
    assert [r for r in caplog.records if "compact" in r.getMessage()] == []
    await put(given, partition, keyed(0, (b"a", b"3")))
    given.clock.now += 60_001
    await scheduling._look(broker, topic)
    assert [r.getMessage() for r in caplog.records if "compact" in r.getMessage()] == ["compacted"]
