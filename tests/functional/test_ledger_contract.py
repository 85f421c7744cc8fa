"""Slots, producers and watchers: what every ledger promises in `ports`."""

import pytest
from functional.given import DAY_MS, a_partition, a_topic, an_extent, an_unknown_partition, append

from samsa.ports import Bound, Head, Ledger, Partition, UnknownPartition


async def test_a_new_partition_is_empty(ledger: Ledger):
    assert await ledger.head(await a_partition(ledger)) == Head(0, 0, {}, {})


async def test_a_slot_begins_where_the_last_one_ended(ledger: Ledger):
    partition = await a_partition(ledger)
    first = await ledger.reserve(partition, "first", 10)
    second = await ledger.reserve(partition, "second", 5)
    assert (first.next_offset, first.inflight) == (10, {"first": 0})
    assert (second.next_offset, second.inflight) == (15, {"first": 0, "second": 10})
    assert await ledger.head(partition) == second


async def test_an_open_token_is_not_opened_twice(ledger: Ledger):
    partition = await a_partition(ledger)
    first = await ledger.reserve(partition, "token", 10)
    await ledger.reserve(partition, "other", 1)
    again = await ledger.reserve(partition, "token", 10)
    assert again.inflight["token"] == first.inflight["token"]
    assert again.next_offset == 11


async def test_a_token_may_hold_any_character(ledger: Ledger):
    partition = await a_partition(ledger)
    token = "10.1700000000000:nonce/#[0] ü"
    head = await ledger.reserve(partition, token, 10)
    assert head.inflight == {token: 0}
    confirmed = await ledger.confirm(partition, token, an_extent(0, 10))
    assert confirmed.was_open


async def test_partitions_count_apart(ledger: Ledger):
    topic = a_topic(partitions=2)
    await ledger.create_topic(topic)
    await ledger.reserve(Partition(topic.id, 0), "token", 10)
    assert await ledger.head(Partition(topic.id, 1)) == Head(0, 0, {}, {})


async def test_a_confirm_closes_the_slot_and_indexes_it(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.reserve(partition, "token", 10)
    confirmed = await ledger.confirm(partition, "token", an_extent(0, 10))
    assert confirmed.was_open
    assert confirmed.head == Head(10, 0, {}, {}) == await ledger.head(partition)
    assert await ledger.extents(partition, 0, 9) == [an_extent(0, 10)]


async def test_a_confirm_of_a_closed_slot_changes_nothing(ledger: Ledger):
    partition = await a_partition(ledger)
    await append(ledger, partition, "token", an_extent(0, 10))
    again = await ledger.confirm(partition, "token", an_extent(0, 10, key="another"))
    assert not again.was_open
    assert again.head == Head(10, 0, {}, {})
    assert await ledger.extents(partition, 0, 9) == [an_extent(0, 10)]


async def test_a_confirm_of_a_closed_slot_does_not_index_it(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.confirm(partition, "never opened", an_extent(0, 10))
    assert await ledger.extents(partition, 0, 9) == []


async def test_a_confirm_keeps_the_extent_that_someone_else_wrote(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.reserve(partition, "token", 10)
    await ledger.index(partition, an_extent(0, 10, key="theirs"))
    assert (await ledger.confirm(partition, "token", an_extent(0, 10, key="ours"))).was_open
    assert [extent.key for extent in await ledger.extents(partition, 0, 9)] == ["theirs"]


async def test_readers_see_up_to_the_first_open_slot(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.reserve(partition, "slow", 10)
    await ledger.reserve(partition, "quick", 5)
    quick = await ledger.confirm(partition, "quick", an_extent(10, 5))
    assert quick.head.visible_end == 0
    slow = await ledger.confirm(partition, "slow", an_extent(0, 10))
    assert slow.head.visible_end == 15


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("reserve", ("token", 1)),
        ("confirm", ("token", an_extent(0))),
        ("head", ()),
        ("advance_start", (1,)),
        ("watch", ("watcher", 1)),
    ],
)
async def test_an_unknown_partition_is_named_as_such(
    ledger: Ledger, method: str, arguments: tuple[object, ...]
):
    with pytest.raises(UnknownPartition):
        await getattr(ledger, method)(an_unknown_partition(), *arguments)


async def test_a_failed_confirm_leaves_nothing_of_an_unknown_partition(ledger: Ledger):
    partition = an_unknown_partition()
    with pytest.raises(UnknownPartition):
        await ledger.confirm(partition, "token", an_extent(0))
    assert await ledger.extents(partition, 0, 9) == []


async def test_the_start_never_goes_back(ledger: Ledger):
    partition = await a_partition(ledger)
    await append(ledger, partition, "token", an_extent(0, 10))
    assert (await ledger.advance_start(partition, 7)).log_start == 7
    assert (await ledger.advance_start(partition, 3)).log_start == 7
    assert (await ledger.head(partition)).log_start == 7


async def test_the_start_reaches_the_counter_and_never_passes_it(ledger: Ledger):
    partition = await a_partition(ledger)
    await append(ledger, partition, "token", an_extent(0, 10))
    assert (await ledger.advance_start(partition, 10)).log_start == 10
    assert (await ledger.advance_start(partition, 11)).log_start == 10


async def test_a_producer_is_unknown_before_its_first_bind(ledger: Ledger):
    assert await ledger.producer(await a_partition(ledger), 4000) is None


async def test_a_bind_must_follow_the_version_that_is_there(ledger: Ledger):
    partition = await a_partition(ledger)
    assert await ledger.bind(partition, 4000, b"one", 0, DAY_MS)
    assert not await ledger.bind(partition, 4000, b"another", 0, DAY_MS)
    assert await ledger.bind(partition, 4000, b"two", 1, DAY_MS)
    assert not await ledger.bind(partition, 4000, b"late", 1, DAY_MS)
    assert not await ledger.bind(partition, 4000, b"early", 3, DAY_MS)
    assert await ledger.producer(partition, 4000) == Bound(2, b"two")


async def test_a_bind_after_a_version_needs_an_item(ledger: Ledger):
    partition = await a_partition(ledger)
    assert not await ledger.bind(partition, 4000, b"two", 1, DAY_MS)
    assert await ledger.producer(partition, 4000) is None


async def test_a_bind_that_succeeded_may_be_repeated(ledger: Ledger):
    partition = await a_partition(ledger)
    for after, state in enumerate([b"one", b"two"]):
        assert await ledger.bind(partition, 4000, state, after, DAY_MS)
        assert await ledger.bind(partition, 4000, state, after, DAY_MS)
    assert await ledger.producer(partition, 4000) == Bound(2, b"two")


async def test_a_bind_that_was_followed_by_another_may_not_be_repeated(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.bind(partition, 4000, b"one", 0, DAY_MS)
    await ledger.bind(partition, 4000, b"two", 1, DAY_MS)
    assert not await ledger.bind(partition, 4000, b"one", 0, DAY_MS)


async def test_producers_are_bound_apart_on_each_partition(ledger: Ledger):
    topic = a_topic(partitions=2)
    await ledger.create_topic(topic)
    here, there = Partition(topic.id, 0), Partition(topic.id, 1)
    assert await ledger.bind(here, 1, b"here", 0, DAY_MS)
    assert await ledger.bind(there, 1, b"there", 0, DAY_MS)
    assert await ledger.bind(here, 2, b"other", 0, DAY_MS)
    assert await ledger.producer(here, 1) == Bound(1, b"here")


async def test_a_confirm_shows_who_watches(ledger: Ledger):
    partition = await a_partition(ledger)
    head = await ledger.watch(partition, "ws://a.b/c?d", DAY_MS)
    assert head.watchers == {"ws://a.b/c?d": DAY_MS}
    await ledger.reserve(partition, "token", 1)
    confirmed = await ledger.confirm(partition, "token", an_extent(0))
    assert confirmed.head.watchers == {"ws://a.b/c?d": DAY_MS}


async def test_watching_again_renews(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.watch(partition, "me", DAY_MS)
    head = await ledger.watch(partition, "me", DAY_MS + 500)
    assert head.watchers == {"me": DAY_MS + 500}


async def test_watchers_that_expired_long_ago_are_dropped(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.watch(partition, "gone", DAY_MS)
    await ledger.watch(partition, "recent", 2 * DAY_MS - 100)
    head = await ledger.watch(partition, "me", 2 * DAY_MS)
    assert head.watchers == {"recent": 2 * DAY_MS - 100, "me": 2 * DAY_MS}
    assert (await ledger.head(partition)).watchers == head.watchers


async def test_who_stops_watching_is_not_listed(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.watch(partition, "me", DAY_MS)
    await ledger.watch(partition, "you", DAY_MS)
    await ledger.unwatch(partition, "me")
    await ledger.unwatch(partition, "me")
    assert (await ledger.head(partition)).watchers == {"you": DAY_MS}


async def test_calls_are_counted_by_name(ledger: Ledger):
    partition = await a_partition(ledger)
    await append(ledger, partition, "token", an_extent(0))
    await ledger.extent_at_time(partition, 0)
    assert ledger.calls == {"create_topic": 1, "reserve": 1, "confirm": 1, "extent_at_time": 1}
