"""What fails in upkeep fails alone: it is logged, counted, and left alone for a while."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from unit.log.compacting import LONGEST, TIME, keyed, timed
from unit.log.given import Given, a_log

from samsa.broker.broker import Broker
from samsa.local.sqlite_groups import SqliteGroups
from samsa.log import failures
from samsa.log.compact_progress import CLEANED
from samsa.log.failures import Failures, UpkeepStep
from samsa.log.layout import Batch
from samsa.log.spills import SPILLS
from samsa.ports import Partition, Topic, Unavailable
from samsa.records import read_header
from samsa.runtime import scheduling, upkeep
from samsa.runtime.logs import TextFormatter
from samsa.runtime.scheduling import start_upkeep, tend_for_ever
from samsa.runtime.upkeep import figures, round_budget, tend

COMPACTED = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0"}
OLD = 60_001
BAD, GOOD = Partition(UUID(int=2), 0), Partition(UUID(int=3), 0)


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What the upkeep has said, above DEBUG."""
    caplog.set_level(logging.INFO, "samsa.upkeep")
    form = TextFormatter().format
    return lambda: [form(r) for r in caplog.records if "logs tended" not in r.getMessage()]


async def a_broker() -> tuple[Given, Broker]:
    """Two compacted topics, beside one that is not."""
    given = await a_log()
    given.clock.now = TIME
    for name, partition in (("bad", BAD), ("good", GOOD)):
        await given.ledger.create_topic(Topic(name, partition.topic_id, 1, 0, COMPACTED))
        await put(given, partition, keyed(0, (b"a", b"1"), (b"a", b"2")))
    given.clock.now += OLD
    return given, Broker(given.stores, "", groups=SqliteGroups(":memory:"))


async def put(given: Given, partition: Partition, data: bytes) -> None:
    batch = bytearray(data)
    await given.log.append_once(partition, [Batch(read_header(batch), memoryview(batch))])


def fails_at(broker: Broker, partition: Partition, error: BaseException, monkeypatch: Any) -> list:
    real, tried = broker.log.compactor.compact, []

    async def compact(where: Partition, *rest: Any) -> Any:
        if where == partition:
            tried.append(where)
            raise error
        return await real(where, *rest)

    monkeypatch.setattr(broker.log.compactor, "compact", compact)
    return tried


async def cleaned(given: Given, partition: Partition) -> int:
    return await given.ledger.cursor(partition, CLEANED)


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """The event loop's clock, and so the rests, move on."""
    loop = asyncio.get_running_loop()
    real = type(loop).time
    monkeypatch.setattr(loop, "time", lambda: real(loop) + seconds, raising=False)


@pytest.mark.parametrize("base", [LONGEST, -(2**63)])
async def test_a_time_near_the_largest_integer_stops_neither_its_partition_nor_others(base, lines):
    given, broker = await a_broker()
    await put(given, BAD, timed(base, 1 if base > 0 else -1, 1 if base > 0 else -1))
    await put(given, BAD, keyed(0, (b"0", b"newer")))
    given.clock.now += OLD
    await tend(broker)
    assert (await cleaned(given, BAD), await cleaned(given, GOOD)) == (5, 2)
    assert figures(broker)["failures"] == 0
    assert [line for line in lines() if "failed" in line] == []


@pytest.mark.parametrize(
    "error", [OverflowError("too large"), MemoryError(), AssertionError(), asyncio.CancelledError()]
)
async def test_a_partition_that_fails_leaves_the_others_their_turn(error, monkeypatch, lines):
    given, broker = await a_broker()
    tried = fails_at(broker, BAD, error, monkeypatch)
    await tend(broker)
    assert (len(tried), await cleaned(given, GOOD)) == (1, 2)
    assert broker.log.janitor.failures.failed == {"compaction": 1}
    assert figures(broker)["failures"] == 1
    (line,) = [line for line in lines() if "failed" in line]
    assert "ERROR   upkeep failed step=compaction name=bad partition=0" in line
    assert f"{type(error).__name__}" in line
    assert "at=test_upkeep_failures.py:" in line
    assert "\n" not in line


async def test_what_else_is_to_be_done_at_a_partition_that_fails_is_done(monkeypatch):
    given, broker = await a_broker()
    fails_at(broker, BAD, OverflowError(), monkeypatch)
    for _ in range(8):
        await put(given, BAD, keyed(0, (b"a", b"1")))
    given.clock.now += OLD
    await tend(broker)
    assert len(await given.ledger.extents(BAD, 0, 99)) == 1


async def test_the_traceback_is_there_for_who_asks_for_it(monkeypatch, caplog):
    caplog.set_level(logging.DEBUG, "samsa.upkeep")
    _, broker = await a_broker()
    fails_at(broker, BAD, OverflowError("too large"), monkeypatch)
    await tend(broker)
    (record,) = [r for r in caplog.records if r.exc_info]
    assert record.levelno == logging.DEBUG
    assert "in compact" in TextFormatter().format(record)


async def test_what_failed_rests_longer_each_time(monkeypatch, lines):
    _, broker = await a_broker()
    tried = fails_at(broker, BAD, OverflowError(), monkeypatch)
    after = []
    for minutes in range(12):
        later(monkeypatch, minutes * 60)
        before = len(tried)
        await tend(broker)
        await tend(broker)
        after += [minutes] * (len(tried) - before)
    assert after == [0, 1, 3, 7]
    assert len([line for line in lines() if "failed" in line]) == 4
    assert "times=4 again_in_s=480.0" in lines()[-1]


async def test_what_works_again_is_not_held_back(monkeypatch):
    given, broker = await a_broker()
    with monkeypatch.context() as failing:
        fails_at(broker, BAD, OverflowError(), failing)
        await tend(broker)
    later(monkeypatch, 60)
    await tend(broker)
    assert await cleaned(given, BAD) == 2
    fails_at(broker, BAD, OverflowError(), monkeypatch)
    await put(given, BAD, keyed(0, (b"a", b"3")))
    given.clock.now += OLD
    await tend(broker)
    (rest,) = broker.log.janitor.failures._resting.values()
    assert rest.failures == 1


async def test_a_store_that_hangs_at_one_partition_does_not_hold_up_the_others(monkeypatch, lines):
    given, broker = await a_broker()
    real = broker.log.compactor.compact

    async def hangs(where: Partition, *rest: Any) -> Any:
        await (asyncio.Event().wait() if where == BAD else asyncio.sleep(0))
        return await real(where, *rest)

    monkeypatch.setattr(broker.log.compactor, "compact", hangs)
    await tend(broker, replace(round_budget(), turn_s=lambda: 0.2, slack_s=0.2))
    assert await cleaned(given, GOOD) == 2
    assert broker.log.janitor.failures.put_off == {"compaction": 1}
    assert any("upkeep put off step=compaction name=bad" in line for line in lines())


async def test_a_turn_that_is_over_ends_where_it_can_go_on(monkeypatch):
    _, broker = await a_broker()
    asked = []

    async def compact(_broker: Any, _topic: Any, _partition: Any, out_of_time: Any) -> bool:
        asked.append(out_of_time())
        return False

    monkeypatch.setattr(upkeep, "compact", compact)
    topic = (await broker.catalog.all())[0]
    for seconds in (600.0, 0.0):
        budget = replace(round_budget(), turn_s=lambda seconds=seconds: seconds)
        await upkeep.tend_partition(broker, topic, BAD, budget)
    assert asked == [False, True]


async def test_who_cancels_the_upkeep_ends_it(monkeypatch):
    _, broker = await a_broker()
    reached = asyncio.Event()

    async def hangs(*_: Any) -> Any:
        reached.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(broker.log.compactor, "compact", hangs)
    task = asyncio.create_task(tend_for_ever(broker, 3_600))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not broker.log.janitor.failures.failed


async def test_a_round_that_fails_as_a_whole_is_followed_by_another(monkeypatch, lines):
    given, broker = await a_broker()
    real, asked = broker.catalog.all, []

    async def fails_once() -> Any:
        asked.append(1)
        if len(asked) == 1:
            raise Unavailable("the ledger is down")
        return await real()

    monkeypatch.setattr(broker.catalog, "all", fails_once)
    monkeypatch.setattr(failures, "FIRST_TRANSIENT_REST_S", 0.0)
    task = asyncio.create_task(tend_for_ever(broker, 0.001))
    done = asyncio.Event()
    monkeypatch.setattr(upkeep, "_tell", lambda *_: done.set())
    await done.wait()
    assert await cleaned(given, GOOD) == 2
    task.cancel()
    assert any("upkeep put off step=round" in line for line in lines())


async def test_upkeep_that_ends_says_so(monkeypatch, lines):
    _, broker = await a_broker()

    async def ends(*_: Any) -> None:
        raise RuntimeError("not to be caught")

    monkeypatch.setattr(scheduling, "tend_for_ever", ends)
    tasks = start_upkeep(broker, 3_600)
    with pytest.raises(RuntimeError):
        await tasks[0]
    await asyncio.sleep(0)
    tasks[1].cancel()
    assert any("CRITICAL upkeep ended" in line and "not to be caught" in line for line in lines())


async def test_a_topic_that_cannot_be_buried_leaves_the_others_and_the_groups(monkeypatch):
    given, broker = await a_broker()
    for topic in await broker.catalog.all():
        await given.ledger.delete_topic(topic)
    real, forgotten = broker.log.retainer.bury, []

    async def bury(topic: Topic) -> None:
        if topic.name == "bad":
            raise KeyError("the row is in the way")
        await real(topic)

    async def forget_expired(_: Broker, group: str) -> bool:
        forgotten.append(group)
        if group == "bad":
            raise ValueError("a group that cannot be read")
        return False

    async def group_ids() -> list[str]:
        return ["bad", "good"]

    monkeypatch.setattr(broker.log.retainer, "bury", bury)
    monkeypatch.setattr("samsa.runtime.forgetting.forget_expired", forget_expired)
    monkeypatch.setattr(broker.groups, "group_ids", group_ids)
    await tend(broker)
    assert [topic.name for topic in await given.ledger.doomed_topics()] == ["bad"]
    assert sorted(forgotten) == ["bad", "good"]
    assert broker.log.janitor.failures.failed == {"burial": 1, "group": 1}


async def test_a_topic_whose_configs_are_no_numbers_is_left_alone(lines):
    given, broker = await a_broker()
    odd = Topic("odd", UUID(int=9), 1, 0, {**COMPACTED, "segment.ms": "soon"})
    await given.ledger.create_topic(odd)
    await tend(broker, seen=scheduling.Schedule(broker.rules, 300.0).see_all)
    assert await cleaned(given, GOOD) == 2
    assert broker.log.janitor.failures.failed == {"compaction": 1}


async def test_a_store_that_is_down_ends_the_round_and_the_next_goes_on_there(monkeypatch):
    _, broker = await a_broker()
    monkeypatch.setattr(upkeep, "STORE_IS_DOWN", 3)
    order: list[str] = []

    async def down(*_: Any) -> Any:
        raise Unavailable("down")

    for name in ("retain", "merge", "inspect"):
        monkeypatch.setattr(broker.log.janitor, name, down)
    monkeypatch.setattr(broker.log.compactor, "compact", down)
    told = lambda topic, *_: order.append(topic.name)  # noqa: E731
    await tend(broker, told=told)
    monkeypatch.setattr(broker.log.janitor, "failures", Failures())
    await tend(broker, told=told)
    names = [topic.name for topic in await broker.catalog.all()] * 2
    assert order in (names[:2], names[1:3], names[2:4])


@pytest.mark.parametrize("left_at", [0, 1])
async def test_a_partition_that_ends_every_process_does_not_keep_the_others_from_their_turn(
    left_at, monkeypatch
):
    given, broker = await a_broker()
    begun: list[str] = []

    class Killed(BaseException):
        pass

    async def dies(_: Broker, topic: Topic, *__: Any) -> bool:
        begun.append(topic.name)
        if topic.name == "good":
            raise Killed
        return False

    monkeypatch.setattr(upkeep, "tend_partition", dies)
    await given.ledger.move_cursor(SPILLS, upkeep.NEXT, left_at)
    names = [topic.name for topic in await broker.catalog.all()]
    for _ in range(4):
        with pytest.raises(Killed):
            await tend(Broker(given.stores, "", groups=broker.groups))
        given.clock.now += 60_000
    assert set(begun) == set(names)


async def test_no_more_is_remembered_of_what_rests_than_a_limit(monkeypatch):
    monkeypatch.setattr(failures, "MOST_RESTING", 3)
    found = Failures()

    async def fails() -> None:
        raise ValueError

    for n in range(10):
        await found.attempt(UpkeepStep("group", f"{n}"), fails, None, 1.0)
    assert [step.name for step in found._resting] == ["7", "8", "9"]
