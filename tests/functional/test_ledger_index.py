"""The index of a partition: its extents by offset and by time."""

import pytest
from functional.given import DAY_MS, a_partition, an_extent, append

from samsa.ports import Bound, Claim, Extent, Ledger, Partition


async def three_extents(ledger: Ledger, times: tuple[int, int, int] = (10, 20, 30)) -> Partition:
    """[0, 10), [10, 11), [11, 20)"""
    partition = await a_partition(ledger)
    for (base, offsets), time in zip([(0, 10), (10, 1), (11, 9)], times, strict=True):
        await append(ledger, partition, an_extent(base, offsets, max_timestamp=time))
    return partition


def bases(extents: list[Extent]) -> list[int]:
    return [extent.base for extent in extents]


async def test_an_extent_comes_back_whole(ledger: Ledger):
    partition = await a_partition(ledger)
    marks = ((0, 0), (1, 61), (250, 4_096), (100_000, 70_000_000))
    extent = Extent(
        *(5, 200_000, 80_000_000, -1, 1_700_000_000_000, "log/a/b", marks, 17, 4_096),
        times=(-1, 5, 5, 9),
        shift=3,
        id="0123456789",
    )
    await ledger.index(partition, extent)
    assert await ledger.extents(partition, 0, 1) == [extent]


async def test_an_extent_that_holds_its_bytes_comes_back_whole(ledger: Ledger):
    partition = await a_partition(ledger)
    extent = an_extent(5, size=4, key="", data=b"\x00\xff\x80a", shift=5, id="0123456789")
    await ledger.index(partition, extent)
    assert await ledger.extents(partition, 0, 1) == [extent]


async def test_indexing_twice_keeps_the_first(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.index(partition, an_extent(0, 10, key="first"))
    await ledger.index(partition, an_extent(0, 10, key="second"))
    assert [extent.key for extent in await ledger.extents(partition, 0, 9)] == ["first"]


@pytest.mark.parametrize(
    ("offset", "found"),
    [(0, [0, 10, 11]), (9, [0, 10, 11]), (10, [10, 11]), (11, [11]), (19, [11]), (20, [])],
)
async def test_extents_begin_with_the_one_that_holds_the_offset(
    ledger: Ledger, offset: int, found: list[int]
):
    partition = await three_extents(ledger)
    assert bases(await ledger.extents(partition, offset, 9)) == found


async def test_a_gap_in_the_index_is_passed_over(ledger: Ledger):
    partition = await a_partition(ledger)
    await ledger.index(partition, an_extent(100, 10))
    assert bases(await ledger.extents(partition, 5, 9)) == [100]


async def test_no_more_extents_than_asked_for(ledger: Ledger):
    partition = await three_extents(ledger)
    assert bases(await ledger.extents(partition, 0, 2)) == [0, 10]


async def test_offsets_of_any_size_keep_their_order(ledger: Ledger):
    partition = await a_partition(ledger)
    places = [9, 10, 99, 2**31, 2**62]
    for base in reversed(places):
        await ledger.index(partition, an_extent(base))
    assert bases(await ledger.extents(partition, 0, 9)) == places


@pytest.mark.parametrize(
    ("timestamp", "found"), [(-1, 0), (10, 0), (11, 10), (20, 10), (21, 11), (31, None)]
)
async def test_a_time_finds_the_first_extent_that_reaches_it(
    ledger: Ledger, timestamp: int, found: int | None
):
    partition = await three_extents(ledger)
    extent = await ledger.extent_at_time(partition, timestamp)
    assert (extent.base if extent else None) == found


async def test_a_time_is_looked_up_in_order_of_offsets(ledger: Ledger):
    partition = await three_extents(ledger, times=(30, 40, 20))
    found = await ledger.extent_at_time(partition, 15)
    assert found is not None
    assert found.base == 0


async def test_a_time_is_not_looked_up_below_the_start(ledger: Ledger):
    partition = await three_extents(ledger)
    await ledger.advance_start(partition, 10)
    found = await ledger.extent_at_time(partition, 5)
    assert found is not None
    assert found.base == 10


@pytest.mark.parametrize(
    ("times", "newest"), [((10, 20, 30), 11), ((30, 20, 10), 0), ((10, 30, 30), 10)]
)
async def test_the_newest_extent_is_the_first_with_the_greatest_time(
    ledger: Ledger, times: tuple[int, int, int], newest: int
):
    partition = await three_extents(ledger, times)
    found = await ledger.newest_extent(partition)
    assert found is not None
    assert found.base == newest


async def test_an_empty_partition_has_no_newest_extent(ledger: Ledger):
    partition = await a_partition(ledger)
    assert await ledger.newest_extent(partition) is None
    assert await ledger.extent_at_time(partition, 0) is None


@pytest.mark.parametrize(
    ("below", "dropped", "left"),
    [(0, 0, [0, 10, 11]), (9, 0, [0, 10, 11]), (10, 1, [10, 11]), (11, 2, [11]), (99, 3, [])],
)
async def test_only_extents_that_end_below_are_dropped(
    ledger: Ledger, below: int, dropped: int, left: list[int]
):
    partition = await three_extents(ledger)
    assert await ledger.drop_extents(partition, below) == dropped
    assert bases(await ledger.extents(partition, 0, 9)) == left


async def test_an_index_of_many_pages_is_read_whole(ledger: Ledger):
    """DynamoDB answers with 1 MB at most, whatever was asked for."""
    partition = await a_partition(ledger)
    marks = tuple((i, i * 16_000) for i in range(40_000))
    extents = [an_extent(i * 50_000, 50_000, marks=marks, max_timestamp=i) for i in range(10)]
    for extent in extents:
        await ledger.index(partition, extent)
    assert await ledger.extents(partition, 0, 99) == extents
    assert await ledger.extent_at_time(partition, 9) == extents[-1]
    assert await ledger.newest_extent(partition) == extents[-1]
    assert await ledger.drop_extents(partition, 9 * 50_000) == 9
    assert await ledger.extents(partition, 0, 99) == extents[-1:]


async def test_more_extents_than_one_batch_are_dropped(ledger: Ledger):
    partition = await a_partition(ledger)
    for base in range(60):
        await ledger.index(partition, an_extent(base))
    assert await ledger.drop_extents(partition, 59) == 59
    assert bases(await ledger.extents(partition, 0, 99)) == [59]


async def test_dropping_extents_leaves_the_head_and_the_producers(ledger: Ledger):
    partition = await three_extents(ledger)
    await append(ledger, partition, an_extent(20), [Claim(1, b"state", 0, DAY_MS)])
    head = await ledger.head(partition)
    await ledger.drop_extents(partition, 21)
    assert await ledger.head(partition) == head
    assert await ledger.producers(partition, 0) == {1: Bound(1, b"state", 20)}
