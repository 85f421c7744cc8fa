"""Runs of extents are swapped for others, all or nothing, and what they named is deleted later."""

import pytest
from functional.given import a_partition, an_extent, an_unknown_partition, append

from samsa.aws.dynamodb import DynamoLedger
from samsa.ports import Extent, Ledger, Partition, PendingDeletion, deletions_of
from samsa.ports.heads import HeadUpdate

SEGMENT = "log/segment"


def an_append(base: int, offsets: int = 1) -> Extent:
    return an_extent(base, offsets, key=f"log/a/0/{base:020d}")


def merged(old: list[Extent], key: str = SEGMENT) -> Extent:
    base, end = old[0].base, old[-1].end
    return an_extent(base, end - base, key=key, marks=((end - base - 1, 50),), times=(7,))


async def with_appends(ledger: Ledger, appends: int = 4) -> tuple[Partition, list[Extent]]:
    partition = await a_partition(ledger)
    extents = [an_append(base * 10, 10) for base in range(appends)]
    for extent in extents:
        await append(ledger, partition, extent)
    return partition, extents


async def announce(ledger: Ledger, partition: Partition, key: str = SEGMENT) -> None:
    await ledger.announce(partition, PendingDeletion(key, 0, 0, (key,), 5, announced=True))


async def swap(
    ledger: Ledger, partition: Partition, old: list[Extent], key: str = SEGMENT
) -> tuple[bool, Extent]:
    await announce(ledger, partition, key)
    new = merged(old, key)
    return await ledger.replace_extents(partition, old, [new]), new


async def index_of(ledger: Ledger, partition: Partition) -> list[Extent]:
    await ledger.head(partition)  # as every reader does
    return await ledger.extents(partition, 0, 1_000)


@pytest.mark.parametrize(("first", "last"), [(0, 4), (0, 2), (1, 3), (2, 4), (1, 2)])
async def test_a_run_is_replaced_and_its_neighbours_stay(ledger: Ledger, first: int, last: int):
    partition, appends = await with_appends(ledger)
    done, new = await swap(ledger, partition, appends[first:last])
    assert done
    assert await index_of(ledger, partition) == [*appends[:first], new, *appends[last:]]


async def test_every_offset_of_a_run_leads_to_what_replaced_it(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    _, new = await swap(ledger, partition, appends[1:3])
    await ledger.head(partition)
    for offset, found in [(0, appends[0]), (9, appends[0]), (10, new), (29, new), (30, appends[3])]:
        assert await ledger.extents(partition, offset, 1) == [found]
    assert await ledger.extent_at_time(partition, 1) == appends[0]


async def test_many_are_replaced_at_once(ledger: Ledger):
    partition, appends = await with_appends(ledger, 150)
    done, new = await swap(ledger, partition, appends[:-1])
    assert done
    assert await index_of(ledger, partition) == [new, appends[-1]]


async def test_one_run_may_become_several(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    new = [merged(appends[:2], "log/one"), merged(appends[2:], "log/two")]
    for extent in new:
        await announce(ledger, partition, extent.key)
    assert await ledger.replace_extents(partition, appends, new)
    assert await index_of(ledger, partition) == new


async def test_what_was_swapped_can_be_swapped_again(ledger: Ledger):
    partition, appends = await with_appends(ledger, 6)
    _, one = await swap(ledger, partition, appends[:2], "log/one")
    _, two = await swap(ledger, partition, appends[2:4], "log/two")
    done, both = await swap(ledger, partition, [one, two], "log/both")
    assert done
    assert await index_of(ledger, partition) == [both, *appends[4:]]
    done, every = await swap(ledger, partition, [both, *appends[4:]], "log/all")
    assert done
    assert await index_of(ledger, partition) == [every]


async def test_a_swap_that_is_repeated_is_done(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    _, new = await swap(ledger, partition, appends)
    assert await ledger.replace_extents(partition, appends, [new])
    assert await index_of(ledger, partition) == [new]


async def test_the_second_of_two_janitors_is_refused(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    _, new = await swap(ledger, partition, appends[:3], "log/first")
    for run in (appends[:3], appends[1:], appends[:2], appends[2:]):
        assert (await swap(ledger, partition, run, "log/second"))[0] is False
    assert await index_of(ledger, partition) == [new, appends[3]]


async def test_a_swap_of_what_was_swapped_since_is_refused(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    _, one = await swap(ledger, partition, appends[:2], "log/one")
    _, other = await swap(ledger, partition, [one], "log/other")
    assert (await swap(ledger, partition, [one, *appends[2:]], "log/late"))[0] is False
    assert await index_of(ledger, partition) == [other, *appends[2:]]


async def test_a_run_that_retention_has_shortened_is_refused(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    await ledger.advance_start(partition, 10)
    await ledger.drop_extents(partition, 10)
    assert (await swap(ledger, partition, appends))[0] is False
    assert await index_of(ledger, partition) == appends[1:]
    assert (await swap(ledger, partition, appends[1:], "log/rest"))[0] is True


async def test_a_run_that_the_log_starts_in_is_replaced(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    await ledger.advance_start(partition, 15)
    await ledger.drop_extents(partition, 15)
    done, new = await swap(ledger, partition, appends[1:])
    assert done
    assert await index_of(ledger, partition) == [new]


async def test_nothing_is_swapped_in_a_partition_that_is_gone(ledger: Ledger):
    appends = [an_append(0), an_append(1)]
    assert await ledger.replace_extents(an_unknown_partition(), appends, [merged(appends)]) is False


async def test_who_is_late_does_not_bring_back_what_was_merged(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    _, new = await swap(ledger, partition, appends[:3])
    for extent in appends:
        await ledger.index(partition, extent)
    assert await index_of(ledger, partition) == [new, appends[3]]
    assert await ledger.extents(partition, 5, 1) == [new]
    assert await ledger.extent_at_time(partition, 7) == new
    assert await ledger.newest_extent(partition) == new


async def test_who_is_late_after_two_swaps_does_not_either(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    _, one = await swap(ledger, partition, appends[2:], "log/one")
    _, every = await swap(ledger, partition, [*appends[:2], one], "log/all")
    for extent in appends:
        await ledger.index(partition, extent)
    assert await index_of(ledger, partition) == [every]


async def test_what_somebody_late_indexed_again_cannot_be_swapped(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    _, new = await swap(ledger, partition, appends[:2])
    await ledger.index(partition, appends[0])
    done, _ = await swap(ledger, partition, appends[:1], "log/other")
    assert not done
    assert await index_of(ledger, partition) == [new, *appends[2:]]


async def test_a_swap_behind_what_is_not_indexed_yet_does_not_hide_it(ledger: Ledger):
    partition, appends = await with_appends(ledger, 5)
    await ledger.drop_extents(partition, 50)
    for extent in (*appends[:2], *appends[3:]):
        await ledger.index(partition, extent)
    await swap(ledger, partition, appends[3:])
    await ledger.index(partition, appends[2])
    found = await index_of(ledger, partition)
    assert found[:3] == appends[:3]
    assert found[-1].end == 50


async def test_extents_that_hold_their_bytes_are_told_apart_by_their_ids(ledger: Ledger):
    partition = await a_partition(ledger)
    ours, theirs = (an_extent(0, key="", data=b"d" * 100, id=name) for name in ("ours", "theirs"))
    later = [an_append(base) for base in (1, 2)]
    for extent in (theirs, *later):
        await ledger.index(partition, extent)
    assert (await swap(ledger, partition, later))[0] is True  # so that the first is settled too
    assert (await swap(ledger, partition, [ours], "log/one"))[0] is False
    assert (await swap(ledger, partition, [theirs], "log/two"))[0] is True


async def test_what_a_heads_tail_still_names_is_not_swapped(dynamodb: DynamoLedger):
    """Readers take it from there, with its object."""
    partition = await a_partition(dynamodb)
    appends = [an_append(base) for base in range(3)]
    for number, extent in enumerate(appends):
        await dynamodb.update_head(partition, HeadUpdate(extent._replace(id=str(number)), 0))
        await dynamodb.index(partition, extent)
    await dynamodb.take_out(partition, {"0": 0})
    for run in (appends, appends[:2], appends[1:], appends[2:]):
        assert (await swap(dynamodb, partition, run))[0] is False
    assert (await swap(dynamodb, partition, appends[:1]))[0] is True
    await dynamodb.take_out(partition, {"1": 1, "2": 2})
    assert (await swap(dynamodb, partition, appends[1:], "log/two"))[0] is True


# Pending deletions


async def test_a_swap_adds_a_pending_deletion_for_what_only_the_old_named(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    _, new = await swap(ledger, partition, appends[:3])
    assert await ledger.pending_deletions(partition, 9) == deletions_of(appends[:3], [new])
    await swap(ledger, partition, [new, appends[3]], "log/zz-later")
    deletions = await ledger.pending_deletions(partition, 9)
    assert deletions[-1] == PendingDeletion("after log/zz-later", 0, 40, (appends[3].key, SEGMENT))


async def test_what_stays_in_its_object_needs_no_pending_deletion(ledger: Ledger):
    partition = await a_partition(ledger)
    parts = [an_extent(base, key="pack/1", start=base * 100) for base in range(3)]
    for part in parts:
        await append(ledger, partition, part)
    assert await ledger.replace_extents(partition, parts, [merged(parts, "pack/1")])
    assert await ledger.pending_deletions(partition, 9) == []


async def test_what_nobody_announced_is_refused(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    assert await ledger.replace_extents(partition, appends, [merged(appends)]) is False
    assert await index_of(ledger, partition) == appends


async def test_what_was_condemned_is_refused(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    await announce(ledger, partition)
    assert await ledger.condemn(partition, SEGMENT, 77)
    assert await ledger.replace_extents(partition, appends, [merged(appends)]) is False
    assert await index_of(ledger, partition) == appends
    assert await ledger.pending_deletions(partition, 9) == [
        PendingDeletion(SEGMENT, 0, 0, (SEGMENT,), 77)
    ]


async def test_an_announcement_is_not_repeated_over_a_condemnation(ledger: Ledger):
    partition, _ = await with_appends(ledger)
    await announce(ledger, partition)
    await ledger.condemn(partition, SEGMENT, 77)
    await announce(ledger, partition)
    assert [deletion.announced for deletion in await ledger.pending_deletions(partition, 9)] == [
        False
    ]


async def test_a_pending_deletion_is_forgotten(ledger: Ledger):
    partition, appends = await with_appends(ledger)
    await swap(ledger, partition, appends)
    (deletion,) = await ledger.pending_deletions(partition, 9)
    for _ in range(2):
        await ledger.forget_deletion(partition, deletion.name)
    assert await ledger.pending_deletions(partition, 9) == []
    assert await ledger.condemn(partition, deletion.name, 1) is False


async def test_no_more_pending_deletions_than_asked_for(ledger: Ledger):
    partition, _ = await with_appends(ledger)
    for number in range(5):
        await announce(ledger, partition, f"log/{number}")
    assert [deletion.name for deletion in await ledger.pending_deletions(partition, 2)] == [
        "log/0",
        "log/1",
    ]


async def test_a_cursor_is_where_it_was_moved_to(ledger: Ledger):
    partition, _ = await with_appends(ledger)
    assert await ledger.cursor(partition, "merge") == 0
    for value in (7, 3, 0, 5):
        await ledger.move_cursor(partition, "merge", value)
        assert await ledger.cursor(partition, "merge") == value
    assert await ledger.cursor(partition, "other") == 0
