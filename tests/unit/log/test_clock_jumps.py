"""A wall clock that is set back or ahead: nothing is deleted early, and nothing stays stuck."""

import pytest
from unit.log.compacting import TIME, keyed
from unit.log.given import PARTITION, Given, a_batch, a_log

from samsa.log.compact_plan import Compaction
from samsa.log.janitor import LOOK_EVERY_MS, SPILLS_EVERY_MS, TopicRules
from samsa.log.layout import Batch
from samsa.log.merge import RoundBudget
from samsa.log.retain import Retention
from samsa.log.runs import Sizes
from samsa.log.spills import KEPT_MS, SPILLS
from samsa.log.watch import WATCH_MS
from samsa.ports import PendingDeletion, has_passed
from samsa.records import read_header

HOUR, DAY, YEARS = 3_600_000, 86_400_000, 40 * 365 * 86_400_000
JUMPS = pytest.mark.parametrize("jump", [HOUR, DAY, YEARS])
EAGER = Compaction(dirty_ratio=0)


async def a_log_of_today(**limits: int) -> Given:
    given = await a_log(**limits)
    given.clock.now = TIME
    return given


async def put(given: Given, data: bytes) -> None:
    batch = bytearray(data)
    await given.log.append_once(PARTITION, [Batch(read_header(batch), memoryview(batch))])


async def tend(given: Given, retention: Retention = Retention()) -> None:  # noqa: B008
    rules = TopicRules(retention, Sizes(1 << 20))
    await given.log.janitor.tend(PARTITION, rules, RoundBudget(10**9, 10**6))


@pytest.mark.parametrize(
    ("since", "passed"),
    [(0, True), (900, True), (901, False), (1_000, False), (1_099, False), (1_100, True)],
)
def test_a_time_has_passed_if_it_is_over_or_lies_further_ahead_than_it_is_long(since, passed):
    assert has_passed(1_000, since, 100) is passed


@JUMPS
async def test_what_was_stored_before_the_clock_was_set_back_is_merged(jump):
    given = await a_log_of_today()
    for _ in range(8):
        await put(given, keyed(0, (b"a", b"1")))
    given.clock.now -= jump
    await tend(given)
    assert len(await given.ledger.extents(PARTITION, 0, 99)) == 1


@JUMPS
async def test_what_was_stored_before_the_clock_was_set_back_is_compacted(jump):
    given = await a_log_of_today()
    for _ in range(3):
        await put(given, keyed(0, (b"a", b"1")))
    given.clock.now -= jump
    done = await given.log.compactor.compact(PARTITION, EAGER)
    assert done is not None
    assert done.after < done.before


@pytest.mark.parametrize("skew", [-1_000, 1_000])
async def test_what_another_process_has_just_stored_is_young_whatever_its_clock_says(skew):
    given = await a_log_of_today()
    await put(given, keyed(0, (b"a", b"1"), (b"a", b"2")))
    given.clock.now += skew
    assert await given.log.compactor.compact(PARTITION, EAGER) is None


@JUMPS
async def test_retention_deletes_nothing_because_the_clock_was_set_back(jump):
    given = await a_log_of_today()
    await put(given, keyed(0, (b"a", b"1")))
    given.clock.now -= jump
    await tend(given, Retention(max_age_ms=HOUR))
    given.clock.now += jump
    await tend(given, Retention(max_age_ms=HOUR))
    assert (await given.ledger.head(PARTITION)).log_start == 0
    given.clock.now += HOUR + 1_000
    await tend(given, Retention(max_age_ms=HOUR))
    assert (await given.ledger.head(PARTITION)).log_start == 1


async def a_pending_deletion(given: Given) -> None:
    """Retention has passed the only extent: its object waits for its grace to end."""
    await given.append(a_batch())
    await given.log.retainer.delete_before(PARTITION, 1)
    assert await deletions(given) == 1


async def deletions(given: Given) -> int:
    """Those that have something in them."""
    return len(
        [
            deletion
            for deletion in await given.ledger.pending_deletions(PARTITION, 9)
            if deletion.keys
        ]
    )


@JUMPS
async def test_the_grace_of_what_is_swept_begins_again_when_the_clock_is_set_back(jump):
    given = await a_log_of_today()
    await a_pending_deletion(given)
    given.clock.now -= jump
    for passed, left in ((0, 1), (given.limits.sweep_grace_ms - 1, 1), (1, 0)):
        given.clock.now += passed
        await given.log.sweeper.sweep(PARTITION)
        assert await deletions(given) == left
        assert len(await given.keys()) == left


@JUMPS
async def test_an_object_that_was_announced_before_is_condemned(jump):
    given = await a_log_of_today()
    await given.ledger.announce(PARTITION, PendingDeletion("x", 0, 1, ("x",), TIME, announced=True))
    given.clock.now -= jump
    await given.log.sweeper.sweep(PARTITION)
    (deletion,) = await given.ledger.pending_deletions(PARTITION, 9)
    assert (deletion.announced, deletion.since) == (False, given.clock.now)


async def test_looks_go_on_when_the_clock_is_set_back():
    given = await a_log_of_today()
    given.objects.remote = True  # type: ignore[misc]
    looked: list[int] = []
    real = given.log.sweeper.find_orphans

    async def find_orphans(partition):
        looked.append(given.clock.now)
        return await real(partition)

    given.log.sweeper.find_orphans = find_orphans  # type: ignore[method-assign]
    await tend(given)
    given.clock.now -= DAY
    await tend(given)
    await tend(given)
    given.clock.now += LOOK_EVERY_MS
    await tend(given)
    assert looked == [TIME, TIME - DAY, TIME - DAY + LOOK_EVERY_MS]


async def test_a_spill_has_its_day_once_more_when_the_clock_is_set_back():
    given = await a_log_of_today()
    await given.objects.put_if_absent("spill/a/1", [b"x"])
    await given.log.janitor.sweep_spills()
    given.clock.now -= YEARS
    await given.log.janitor.sweep_spills()
    assert [deletion.since for deletion in await given.ledger.pending_deletions(SPILLS, 9)] == [
        given.clock.now
    ]
    given.clock.now += KEPT_MS + SPILLS_EVERY_MS
    await given.log.janitor.sweep_spills()
    assert [key async for key in given.objects.list("spill/")] == []


@JUMPS
async def test_a_watch_is_renewed_and_a_watcher_of_before_goes(jump):
    given = await a_log_of_today()
    await given.log.watches.ensure(PARTITION)
    await given.ledger.watch(PARTITION, "dead", TIME + WATCH_MS)
    given.clock.now -= jump
    await tend(given)
    await given.log.watches.ensure(PARTITION)
    head = await given.ledger.head(PARTITION)
    assert head.watchers == {given.stores.wakeups.address: given.clock.now + WATCH_MS}
