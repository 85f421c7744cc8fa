"""Rounds of upkeep: who gets his turn, what is forgotten, when another follows at once."""

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest
from unit.log.compacting import TIME, keyed
from unit.log.given import PARTITION, Given, a_batch, a_log, sequenced

from samsa.broker.broker import Broker
from samsa.local.sqlite_groups import SqliteGroups
from samsa.log.compact_keys import BYTES_PER_KEY
from samsa.log.compact_progress import CLEANED
from samsa.log.layout import Batch
from samsa.log.spills import KEPT_MS
from samsa.log.stores import Limits
from samsa.ports import Partition, Topic
from samsa.records import read_header
from samsa.runtime import upkeep
from samsa.runtime.scheduling import tend_for_ever
from samsa.runtime.upkeep import figures, tend

OLD = 60_000
OTHER = Partition(UUID(int=2), 0)
KEPT = {"retention.ms": "-1"}
EAGER = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0"}


async def a_broker(**configs: str) -> tuple[Given, Broker]:
    given = await a_log()
    await given.ledger.create_topic(Topic("others", OTHER.topic_id, 1, 0, {**KEPT, **configs}))
    return given, Broker(given.stores, "", groups=SqliteGroups(":memory:"))


async def append(given: Given, partition: Partition, entries: int, size: int = 1) -> None:
    for _ in range(entries):
        await given.log.append_once(partition, [a_batch(b"." * size)])


async def merged(given: Given, partition: Partition) -> int:
    return len(await given.ledger.extents(partition, 0, 1_000))


async def test_producers_that_expired_are_forgotten():
    given, broker = await a_broker()
    await given.append(sequenced(0, producer_id=7))
    given.clock.now += 1
    await given.append(sequenced(0, producer_id=8))
    given.clock.now += given.limits.producer_expiry_ms - 1
    await tend(broker)
    assert await given.journal.producer(PARTITION, 7) is None
    assert await given.journal.producer(PARTITION, 8) is not None


async def test_rounds_that_end_early_give_each_transactional_id_and_each_group_its_turn(
    monkeypatch: pytest.MonkeyPatch,
):
    _, broker = await a_broker()
    names = [f"{n}" for n in range(20)]
    loop, seconds = asyncio.get_running_loop(), 0
    ids: list[str] = []
    groups: list[str] = []

    async def named() -> list[str]:
        return names

    async def tend_id(one: str, _: int) -> bool:
        nonlocal seconds
        seconds += 1
        ids.append(one)
        return False

    async def tend_group(_: Broker, one: str) -> bool:
        nonlocal seconds
        seconds += 1
        groups.append(one)
        return False

    began = loop.time()
    monkeypatch.setattr(loop, "time", lambda: began + seconds)
    monkeypatch.setattr(broker.transactions, "all_ids", named)
    monkeypatch.setattr(broker.transactions, "tend", tend_id)
    monkeypatch.setattr(broker.groups, "group_ids", named)
    monkeypatch.setattr("samsa.runtime.forgetting.forget_expired", tend_group)
    budget = replace(upkeep.round_budget(), turn_s=lambda: 4.0, slack_s=6.0)
    for done in range(1, 101):
        await tend(broker, budget)
        assert (len(ids), len(groups)) == (5 * done, 5 * done)
    assert set(ids) == set(groups) == set(names)


async def test_spills_go_after_their_day():
    given, broker = await a_broker()
    given.clock.now = TIME
    await given.objects.put_if_absent("spill/a/1", [b"x"])
    for _ in range(2):
        assert [key async for key in given.objects.list("spill/")] == ["spill/a/1"]
        await tend(broker)
        given.clock.now += KEPT_MS
    assert [key async for key in given.objects.list("spill/")] == []


async def test_a_partition_with_much_to_do_leaves_the_others_their_turn(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(upkeep, "ROUND_SWAPS", 1)
    given, broker = await a_broker()
    monkeypatch.setattr(upkeep, "sizes_of", lambda *_: upkeep.Sizes(1_000))
    for partition in (PARTITION, OTHER):
        await append(given, partition, 30, size=100)
    given.clock.now += OLD
    assert await tend(broker)
    assert (await merged(given, PARTITION)) == (await merged(given, OTHER)) < 30


async def test_while_there_is_more_to_merge_the_next_round_follows_at_once(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(upkeep, "ROUND_SWAPS", 1)
    given, broker = await a_broker()
    monkeypatch.setattr(upkeep, "sizes_of", lambda *_: upkeep.Sizes(1_000))
    await append(given, OTHER, 30, size=100)
    given.clock.now += OLD
    sleep = asyncio.sleep

    async def no_sleep(seconds: float) -> None:
        if seconds == 3_600:
            raise asyncio.CancelledError
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", no_sleep)
    with pytest.raises(asyncio.CancelledError):
        await tend_for_ever(broker, 3_600)
    assert await merged(given, OTHER) == 6  # of what one round would have left 26


async def test_a_round_without_time_does_not_ask_for_another(monkeypatch: pytest.MonkeyPatch):
    given, broker = await a_broker()
    await append(given, OTHER, 30)
    given.clock.now += OLD
    looks = iter([False, False])
    budget = upkeep.round_budget(lambda: next(looks, True))
    assert not await tend(broker, budget)


async def test_what_compaction_took_out_is_counted_as_reclaimed():
    given, broker = await a_broker(**{"cleanup.policy": "compact"})
    given.clock.now = TIME
    data = bytearray(keyed(0, *((b"a", b"%d" % n) for n in range(50))))
    batch = Batch(read_header(data), memoryview(data))
    await given.log.append_once(OTHER, [batch])
    given.clock.now += OLD + 1
    await tend(broker)
    (left,) = await given.ledger.extents(OTHER, 0, 9)
    assert figures(broker)["reclaimed_bytes"] == len(data) - left.size > 0


async def changed(given: Given, *keys: bytes) -> None:
    data = bytearray(keyed(0, *((key, b"v") for key in keys)))
    await given.log.append_once(OTHER, [Batch(read_header(data), memoryview(data))])
    given.clock.now += OLD + 1


async def test_a_log_with_more_keys_than_fit_is_compacted_round_after_round():
    given, broker = await a_broker(**EAGER)
    given.stores = replace(given.stores, limits=Limits(key_map_bytes=2 * BYTES_PER_KEY))
    given.clock.now = TIME
    for n in range(4):
        await changed(given, b"%d" % n, b"x%d" % n, b"%d" % n)
    rounds = 1
    while await tend(Broker(given.stores, "", groups=broker.groups)):
        rounds += 1
    assert rounds == 4
    assert await given.ledger.cursor(OTHER, CLEANED) == 12


async def test_a_log_that_is_always_dirty_has_one_round_before_it_is_the_next_ones_turn(
    monkeypatch: pytest.MonkeyPatch,
):
    given, broker = await a_broker(**EAGER)
    given.clock.now = TIME
    await changed(given, b"a", b"a")
    real, rounds = broker.log.compactor.compact, 0

    async def and_dirty_again(*args):
        nonlocal rounds
        rounds += 1
        done = await real(*args)
        await changed(given, b"a", b"a")
        return done

    monkeypatch.setattr(broker.log.compactor, "compact", and_dirty_again)
    assert not await tend(broker)
    assert rounds == 1
