"""The start of a log and its watchers: what every ledger promises in `ports`."""

import pytest
from functional.given import DAY_MS, a_partition, a_topic, an_extent, an_unknown_partition, append

from samsa.ports import Head, Ledger, Partition, UnknownPartition


async def test_a_new_partition_is_empty(ledger: Ledger):
    assert await ledger.head(await a_partition(ledger)) == Head(0, 0, {})


async def test_partitions_count_apart(ledger: Ledger):
    topic = a_topic(partitions=2)
    await ledger.create_topic(topic)
    await append(ledger, Partition(topic.id, 0), an_extent(0, 10))
    assert await ledger.head(Partition(topic.id, 1)) == Head(0, 0, {})


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
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


async def test_the_start_never_goes_back(ledger: Ledger):
    partition = await a_partition(ledger)
    await append(ledger, partition, an_extent(0, 10))
    assert (await ledger.advance_start(partition, 7)).log_start == 7
    assert (await ledger.advance_start(partition, 3)).log_start == 7
    assert (await ledger.head(partition)).log_start == 7


async def test_the_start_reaches_the_counter_and_never_passes_it(ledger: Ledger):
    partition = await a_partition(ledger)
    await append(ledger, partition, an_extent(0, 10))
    assert (await ledger.advance_start(partition, 10)).log_start == 10
    assert (await ledger.advance_start(partition, 11)).log_start == 10


async def test_an_append_shows_who_watches(ledger: Ledger):
    partition = await a_partition(ledger)
    head = await ledger.watch(partition, "ws://a.b/c?d", DAY_MS)
    assert head.watchers == {"ws://a.b/c?d": DAY_MS}
    head = await append(ledger, partition, an_extent(0))
    assert head.watchers == {"ws://a.b/c?d": DAY_MS}


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
    await ledger.head(partition)
    await ledger.extent_at_time(partition, 0)
    assert ledger.calls == {"create_topic": 1, "head": 1, "extent_at_time": 1}
