"""Transactional ids and pending offsets: what every store of them promises in `ports`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from functional.conftest import LEDGERS
from functional.groups_given import NOW, committed, open_groups

from samsa.local.memory_ledger import MemoryGroups
from samsa.ports import GroupItem, Groups, Ledger, Offsets, TransactionItem

LETTERS, PARCELS = ("letters", 0), ("parcels", 0)
SOON = NOW + 3_600_000
ONE, TWO = TransactionItem(1, 1000, b"one"), TransactionItem(2, 1000, b"two")


@pytest.fixture(params=LEDGERS)
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, closing: list[Ledger]
) -> AsyncIterator[Groups]:
    store = await open_groups(request.param, tmp_path, request)
    yield store
    await store.close()


# Transactional ids


async def test_an_unknown_id_has_no_transaction(store: Groups):
    assert await store.transaction("payments") is None
    assert await store.transaction("payments", 7) is None
    assert await store.transactional_id_of(1000) is None
    assert await store.transactional_ids() == []


async def test_a_transaction_is_stored_after_the_version_it_came_from(store: Groups):
    assert await store.put_transaction("payments", ONE, 0) is None
    assert await store.put_transaction("payments", TWO, 1) is None
    assert await store.transaction("payments") == TWO


@pytest.mark.parametrize("after", [0, 2])
async def test_a_put_after_another_version_is_answered_with_what_is_there(
    store: Groups, after: int
):
    await store.put_transaction("payments", ONE, 0)
    other = TransactionItem(after + 1, 1000, b"other")
    assert await store.put_transaction("payments", other, after) == ONE
    assert await store.transaction("payments") == ONE


async def test_a_put_after_a_version_that_was_deleted_is_answered_with_version_0(store: Groups):
    await store.put_transaction("payments", ONE, 0)
    await store.delete_transaction("payments", 1)
    there = await store.put_transaction("payments", TWO, 1)
    assert there is not None
    assert there.version == 0
    assert await store.transaction("payments") is None


@pytest.mark.parametrize("after", [0, 1])
async def test_a_put_that_is_repeated_succeeds_again(store: Groups, after: int):
    for version, item in enumerate([ONE, TWO][: after + 1]):
        assert await store.put_transaction("payments", item, version) is None
    assert await store.put_transaction("payments", [ONE, TWO][after], after) is None
    assert await store.transaction("payments") == [ONE, TWO][after]


async def test_a_state_of_100_kilobytes_comes_back(store: Groups):
    item = TransactionItem(1, 1000, bytes(range(256)) * 400)
    assert await store.put_transaction("payments", item, 0) is None
    assert await store.transaction("payments") == item


async def test_who_knows_the_version_may_be_spared_the_state(store: Groups):
    item = TransactionItem(2**61, 1000, b"one")
    await store.put_transaction("payments", item, 0)
    assert await store.transaction("payments", 2**61) in (item, item._replace(state=b""))
    assert await store.transaction("payments", 7) == item


async def test_an_id_is_found_by_the_producer_id_that_it_was_last_given(store: Groups):
    await store.put_transaction("payments", ONE, 0)
    await store.put_transaction("refunds", TransactionItem(1, 2000, b""), 0)
    assert await store.transactional_id_of(1000) == "payments"
    assert await store.transactional_id_of(2000) == "refunds"
    await store.put_transaction("payments", TransactionItem(2, 3000, b""), 1)
    assert await store.transactional_id_of(3000) == "payments"
    assert await store.transactional_id_of(4000) is None


async def test_a_refused_put_gives_no_producer_id(store: Groups):
    await store.put_transaction("payments", ONE, 0)
    await store.put_transaction("payments", TransactionItem(2, 3000, b""), 0)
    assert await store.transactional_id_of(1000) == "payments"
    found = await store.transaction("payments")
    assert found is not None
    assert found.producer_id == 1000


async def test_ids_are_listed_in_order(store: Groups):
    for number, name in enumerate(["b", "a", "ü", "c d"]):
        await store.put_transaction(name, TransactionItem(1, number, b""), 0)
    await store.put_group("family", GroupItem(1, b"state"), 0)
    assert await store.transactional_ids() == ["a", "b", "c d", "ü"]
    assert await store.group_ids() == ["family"]


async def test_a_deleted_id_is_gone(store: Groups):
    await store.put_transaction("payments", ONE, 0)
    assert await store.delete_transaction("payments", 1)
    assert await store.transaction("payments") is None
    assert await store.transactional_ids() == []
    assert await store.delete_transaction("payments", 1)
    assert await store.put_transaction("payments", TWO, 0) is None
    assert await store.transaction("payments") == TWO


async def test_an_id_that_moved_on_is_not_deleted(store: Groups):
    await store.put_transaction("payments", ONE, 0)
    await store.put_transaction("payments", TWO, 1)
    assert not await store.delete_transaction("payments", 1)
    assert await store.transaction("payments") == TWO


async def test_what_another_process_may_change_is_not_known_without_a_call(store: Groups):
    await store.put_transaction("payments", ONE, 0)
    await store.transaction("payments")
    has_no_others = isinstance(store, MemoryGroups)
    assert store.is_current_transaction("payments", 1) == has_no_others


@pytest.mark.parametrize("name", ["a/b#c d", "ü" * 200, "t" * 1_000])
async def test_a_transactional_id_may_have_any_name(store: Groups, name: str):
    assert await store.put_transaction(name, ONE, 0) is None
    assert await store.transactional_ids() == [name]
    assert await store.transactional_id_of(1000) == name
    assert await store.delete_transaction(name, 1)
    assert await store.transactional_ids() == []


# Pending offsets


async def add(store: Groups, producer_id: int, serial: int, offsets: Offsets) -> bool:
    return await store.add_pending("family", producer_id, serial, offsets, SOON)


async def end(store: Groups, producer_id: int, serial: int, is_committed: bool = True) -> None:
    await store.end_pending("family", producer_id, serial, is_committed, SOON)


async def pending(store: Groups) -> dict[tuple[int, int], Offsets]:
    """By producer and serial; without those who have none left."""
    found = await store.pending("family")
    assert [one.producer_id for one in found] == sorted({one.producer_id for one in found})
    return {(one.producer_id, one.serial): one.offsets for one in found if one.offsets}


async def test_an_unknown_group_has_no_pending_offsets(store: Groups):
    assert await store.pending("family") == []


async def test_pending_offsets_are_not_the_groups_until_the_commit(store: Groups):
    offsets = {LETTERS: committed(7, "read: on :page 3 ü"), PARCELS: committed(2**62)}
    assert await add(store, 1000, 3, offsets)
    assert await store.offsets("family", NOW) == {}
    assert await pending(store) == {(1000, 3): offsets}
    await end(store, 1000, 3)
    assert await store.offsets("family", NOW) == offsets
    assert await store.pending("family") == []


async def test_aborted_offsets_vanish(store: Groups):
    await store.commit("family", 1, {LETTERS: committed(1)})
    await add(store, 1000, 3, {LETTERS: committed(7), PARCELS: committed(8)})
    await end(store, 1000, 3, is_committed=False)
    assert await store.offsets("family", NOW) == {LETTERS: committed(1)}
    assert await store.pending("family") == []


async def test_later_offsets_of_a_transaction_replace_earlier_ones(store: Groups):
    await add(store, 1000, 3, {LETTERS: committed(7), PARCELS: committed(8)})
    await add(store, 1000, 3, {LETTERS: committed(9)})
    both = {LETTERS: committed(9), PARCELS: committed(8)}
    assert await pending(store) == {(1000, 3): both}
    await end(store, 1000, 3)
    assert await store.offsets("family", NOW) == both


@pytest.mark.parametrize("is_committed", [False, True])
async def test_after_the_end_late_calls_change_nothing(store: Groups, is_committed: bool):
    await add(store, 1000, 3, {LETTERS: committed(7)})
    await end(store, 1000, 3, is_committed)
    await store.commit("family", -1, {LETTERS: committed(100)})
    for serial in (3, 2):
        assert not await add(store, 1000, serial, {LETTERS: committed(8)})
        for late in (False, True):
            await end(store, 1000, serial, late)
    assert await store.offsets("family", NOW) == {LETTERS: committed(100)}
    assert await store.pending("family") == []


async def test_an_end_without_offsets_refuses_what_comes_late(store: Groups):
    await end(store, 1000, 3)
    assert not await add(store, 1000, 3, {LETTERS: committed(7)})
    assert await store.pending("family") == []
    assert await store.offsets("family", NOW) == {}


async def test_the_end_of_an_earlier_transaction_leaves_the_later_one_as_it_is(store: Groups):
    await add(store, 1000, 4, {LETTERS: committed(7)})
    for is_committed in (False, True):
        await end(store, 1000, 3, is_committed)
    assert await pending(store) == {(1000, 4): {LETTERS: committed(7)}}
    assert await store.offsets("family", NOW) == {}
    await end(store, 1000, 4)
    assert await store.offsets("family", NOW) == {LETTERS: committed(7)}


async def test_a_producers_next_transaction_takes_offsets_again(store: Groups):
    for serial in (1, 2, 5):
        assert await add(store, 1000, serial, {LETTERS: committed(serial)})
        await end(store, 1000, serial)
        assert await store.offsets("family", NOW) == {LETTERS: committed(serial)}


async def test_what_is_left_of_an_earlier_transaction_is_not_committed_with_a_later_one(
    store: Groups,
):
    await add(store, 1000, 3, {PARCELS: committed(7)})
    await add(store, 1000, 4, {LETTERS: committed(8)})
    await end(store, 1000, 4)
    assert await store.offsets("family", NOW) == {LETTERS: committed(8)}
    assert await pending(store) == {}


async def test_what_is_left_of_an_earlier_transaction_goes_with_the_end_of_a_later_one(
    store: Groups,
):
    await add(store, 1000, 3, {PARCELS: committed(7)})
    await end(store, 1000, 4)
    assert await store.offsets("family", NOW) == {}
    assert await pending(store) == {}


async def test_producers_and_groups_are_apart(store: Groups):
    await add(store, 1000, 3, {LETTERS: committed(1)})
    await add(store, 2000, 3, {LETTERS: committed(2), PARCELS: committed(3)})
    await store.add_pending("other", 1000, 3, {LETTERS: committed(4)}, SOON)
    await end(store, 1000, 3)
    assert await store.offsets("family", NOW) == {LETTERS: committed(1)}
    assert await store.offsets("other", NOW) == {}
    assert await pending(store) == {(2000, 3): {LETTERS: committed(2), PARCELS: committed(3)}}
    await end(store, 2000, 3)
    await store.end_pending("other", 1000, 3, False, SOON)
    found = {LETTERS: committed(2), PARCELS: committed(3)}
    assert await store.offsets("family", NOW) == found
    assert await store.pending("other") == []


async def test_committed_offsets_leave_the_generation_as_it_is(store: Groups):
    await store.commit("family", 5, {LETTERS: committed(9)})
    await add(store, 1000, 3, {LETTERS: committed(2), PARCELS: committed(3)})
    await end(store, 1000, 3)
    assert (await store.offsets("family", NOW))[LETTERS] == committed(2)
    assert not await store.commit("family", 4, {LETTERS: committed(1)})
    assert await store.commit("family", 0, {PARCELS: committed(4)})
    assert await store.commit("family", 5, {LETTERS: committed(10)})
    assert await store.offsets("family", NOW) == {LETTERS: committed(10), PARCELS: committed(4)}


async def test_offsets_of_100_topics_become_the_groups_at_once(store: Groups):
    offsets = {(f"topic-{number:03}", number): committed(number) for number in range(100)}
    assert await add(store, 1000, 1, offsets)
    assert await pending(store) == {(1000, 1): offsets}
    await end(store, 1000, 1)
    assert await store.offsets("family", NOW) == offsets


async def test_a_deleted_group_takes_its_pending_offsets_along(store: Groups):
    await store.put_group("family", GroupItem(1, b"state"), 0)
    for producer_id in (1000, 2000):
        await add(store, producer_id, 3, {LETTERS: committed(producer_id)})
    await store.add_pending("other", 1000, 3, {LETTERS: committed(1)}, SOON)
    assert await store.delete_group("family", 1)
    assert await pending(store) == {}
    await end(store, 1000, 3)
    assert await store.offsets("family", NOW) == {}
    assert len(await store.pending("other")) == 1


@pytest.mark.parametrize("version", [0, 1])
async def test_a_group_is_not_forgotten_while_offsets_wait_for_a_transaction(
    store: Groups, version: int
):
    """If they went, the transaction would be committed without them."""
    if version:
        await store.put_group("family", GroupItem(version, b"state"), 0)
    await add(store, 1000, 3, {LETTERS: committed(7)})
    assert not await store.forget_group("family", version, NOW)
    await end(store, 1000, 3)
    assert await store.offsets("family", NOW) == {LETTERS: committed(7)}
    assert "family" in await store.group_ids()


async def test_a_group_of_which_a_transaction_was_aborted_is_forgotten_in_the_end(store: Groups):
    await store.put_group("family", GroupItem(1, b"state"), 0)
    await add(store, 1000, 3, {LETTERS: committed(7)})
    await end(store, 1000, 3, is_committed=False)
    assert await store.forget_group("family", 1, SOON + 1_000)
    assert await store.group_ids() == []
    assert await add(store, 1000, 4, {LETTERS: committed(8)})
    await end(store, 1000, 4)
    assert await store.group_ids() == ["family"]


async def test_a_group_that_moved_on_keeps_its_pending_offsets(store: Groups):
    await store.put_group("family", GroupItem(1, b"state"), 0)
    await add(store, 1000, 3, {LETTERS: committed(7)})
    assert not await store.delete_group("family", 0)
    assert await pending(store) == {(1000, 3): {LETTERS: committed(7)}}


async def test_deleted_offsets_take_pending_ones_along_unless_only_old_ones_go(store: Groups):
    offsets = {LETTERS: committed(1, at=NOW - 1), PARCELS: committed(2, at=NOW - 1)}
    await add(store, 1000, 3, offsets)
    await add(store, 2000, 1, offsets)
    await store.delete_offsets("family", [LETTERS], NOW)
    assert await pending(store) == {(1000, 3): offsets, (2000, 1): offsets}
    await store.delete_offsets("family", [LETTERS, ("missing", 1)])
    left = {PARCELS: offsets[PARCELS]}
    assert await pending(store) == {(1000, 3): left, (2000, 1): left}
    await end(store, 1000, 3)
    assert await store.offsets("family", NOW) == left


async def test_a_forgotten_topic_takes_pending_offsets_along_but_for_younger_ones(store: Groups):
    old, young = committed(1, at=NOW - 1), committed(2, at=NOW)
    await add(store, 1000, 3, {("a", 0): old, ("a", 1): young, ("ab", 0): old})
    await store.add_pending("other", 1000, 3, {("a", 0): old}, SOON)
    await store.forget_topic("a", NOW)
    assert await pending(store) == {(1000, 3): {("a", 1): young, ("ab", 0): old}}
    for group in ("family", "other"):
        await store.end_pending(group, 1000, 3, True, SOON)
    assert await store.offsets("family", NOW) == {("a", 1): young, ("ab", 0): old}
    assert await store.offsets("other", NOW) == {}


async def test_calls_are_counted(store: Groups):
    await store.transaction("payments")
    await store.pending("family")
    assert store.calls == {"transaction": 1, "pending": 1}
