"""The janitor: what it sees of a partition, what it counts, and what it clears away."""

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log

from samsa.local.memory import MemoryObjects
from samsa.log.janitor import LOOK_EVERY_MS, WATCHER_MS, TopicRules
from samsa.log.merge import RoundBudget
from samsa.log.retain import Retention
from samsa.log.runs import Sizes

OLD = 60_000
COUNT_MS = 5_000


async def tend(given: Given) -> bool:
    rules = TopicRules(Retention(), Sizes(1_000_000))
    return (await given.log.janitor.tend(PARTITION, rules, RoundBudget(10**9, 10**6))).goes_on


async def append(given: Given, appends: int) -> None:
    for number in range(appends):
        await given.log.append_once(PARTITION, [a_batch(b"%d" % number)])


def objects(given: Given) -> int:
    return given.log.janitor.counts.total().objects


async def test_watchers_that_expired_long_ago_go_and_others_stay():
    given = await a_log()
    await given.ledger.watch(PARTITION, "gone", given.clock.now)
    await given.ledger.watch(PARTITION, "here", given.clock.now + 1_000)
    given.clock.now += WATCHER_MS
    await tend(given)
    assert set((await given.ledger.head(PARTITION)).watchers) == {"gone", "here"}
    given.clock.now += 1
    await tend(given)
    assert set((await given.ledger.head(PARTITION)).watchers) == {"here"}


async def test_what_a_log_is_made_of_is_counted_again_when_it_has_changed():
    given = await a_log()
    given.log.janitor.count_ms = COUNT_MS
    await append(given, 3)
    await tend(given)
    assert objects(given) == 3
    await append(given, 2)
    given.clock.now += COUNT_MS - 1
    await tend(given)
    assert objects(given) == 3
    given.clock.now += 1
    await tend(given)
    assert objects(given) == 5
    given.clock.now += OLD  # now they are merged
    await tend(given)
    assert objects(given) == 1


async def test_a_log_that_stays_as_it_is_is_not_counted_again():
    given = await a_log()
    given.log.janitor.count_ms = COUNT_MS
    await append(given, 1)
    await tend(given)
    given.clock.now += COUNT_MS
    calls = given.ledger.calls["extents"]
    await tend(given)
    assert given.ledger.calls["extents"] == calls + 1  # by the merge


async def test_far_away_it_counts_only_where_somebody_asks(monkeypatch: pytest.MonkeyPatch):
    given = await a_log()
    await append(given, 3)
    given.clock.now += LOOK_EVERY_MS
    await tend(given)
    monkeypatch.setattr(MemoryObjects, "remote", True)
    function, broker = given.another(), given.another()
    broker.log.janitor.count_ms = COUNT_MS
    for one in (function, broker):
        await tend(one)
    assert (objects(function), objects(broker)) == (0, 3)


async def test_a_round_that_could_not_see_all_goes_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("samsa.log.merge.WINDOW", 8)
    monkeypatch.setattr("samsa.log.merge.PAGE", 4)
    given = await a_log()
    await append(given, 20)
    given.clock.now += OLD
    rounds = 1
    while await tend(given):
        rounds += 1
    assert rounds == 3
    assert len(await given.ledger.extents(PARTITION, 0, 99)) <= 3
    assert not await tend(given)


@pytest.mark.parametrize(("offset", "extents"), [(4, 4), (5, 5), (-1, 6)])
async def test_what_is_deleted_by_hand_is_counted_as_reclaimed(offset: int, extents: int):
    given = await a_log()
    await append(given, 6)
    sizes = [extent.size for extent in await given.ledger.extents(PARTITION, 0, 9)]
    await given.log.retainer.delete_before(PARTITION, offset)
    assert given.log.retainer.reclaimed == sum(sizes[:extents])
