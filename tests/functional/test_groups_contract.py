"""Groups and offsets: what every store of them promises in `ports`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from functional.conftest import LEDGERS
from functional.groups_given import NOW, committed, open_groups

from samsa.ports import GroupItem, Groups, Ledger

LETTERS, PARCELS = ("letters", 0), ("parcels", 0)


@pytest.fixture(params=LEDGERS)
async def groups(
    request: pytest.FixtureRequest, tmp_path: Path, closing: list[Ledger]
) -> AsyncIterator[Groups]:
    groups = await open_groups(request.param, tmp_path, request)
    yield groups
    await groups.close()


async def test_an_unknown_group_has_neither_state_nor_offsets(groups: Groups):
    assert await groups.group("family") is None
    assert await groups.offsets("family", NOW) == {}
    assert await groups.group_ids() == []


async def test_a_state_is_stored_after_the_version_it_came_from(groups: Groups):
    assert await groups.put_group("family", GroupItem(1, b"one"), 0)
    assert await groups.put_group("family", GroupItem(2, b"two"), 1)
    assert await groups.group("family") == GroupItem(2, b"two")


@pytest.mark.parametrize("after", [0, 2])
async def test_a_state_from_another_version_is_refused(groups: Groups, after: int):
    await groups.put_group("family", GroupItem(1, b"one"), 0)
    assert not await groups.put_group("family", GroupItem(after + 1, b"other"), after)
    assert await groups.group("family") == GroupItem(1, b"one")


async def test_a_state_after_a_version_that_never_was_is_refused(groups: Groups):
    assert not await groups.put_group("family", GroupItem(2, b"one"), 1)
    assert await groups.group("family") is None


@pytest.mark.parametrize("after", [0, 1])
async def test_a_put_that_is_repeated_succeeds_again(groups: Groups, after: int):
    for version in range(after + 1):
        assert await groups.put_group("family", GroupItem(version + 1, b"state"), version)
    assert await groups.put_group("family", GroupItem(after + 1, b"state"), after)
    assert await groups.group("family") == GroupItem(after + 1, b"state")


async def test_a_state_of_300_kilobytes_comes_back(groups: Groups):
    state = bytes(range(256)) * 1200
    assert await groups.put_group("family", GroupItem(1, state), 0)
    assert await groups.group("family") == GroupItem(1, state)


async def test_who_knows_the_version_may_be_spared_the_state(groups: Groups):
    await groups.put_group("family", GroupItem(2**61, b"one"), 0)
    known = await groups.group("family", 2**61)
    assert known is not None
    assert (known.version, known.state) in [(2**61, b""), (2**61, b"one")]
    assert await groups.group("family", 7) == GroupItem(2**61, b"one")
    await groups.put_group("family", GroupItem(2**61 + 1, b"two"), 2**61)
    assert await groups.group("family", 2**61) == GroupItem(2**61 + 1, b"two")
    assert await groups.group("nobody", 7) is None


async def test_offsets_come_back_as_they_were_committed(groups: Groups):
    offsets = {
        ("letters", 0): committed(7),
        ("letters", 40): committed(8, "read: on :page 3 ü"),
        ("parcels", 1): committed(2**62, "x" * 4096, NOW + 5, NOW + 9),
    }
    assert await groups.commit("family", 3, offsets)
    assert await groups.offsets("family", NOW) == offsets
    assert await groups.offsets("other", NOW) == {}


async def test_offsets_come_in_the_order_of_topics_and_partitions(groups: Groups):
    offsets = {(topic, n): committed(n) for topic in ("b", "a") for n in (40, 3, 12, 100)}
    await groups.commit("family", 1, offsets)
    assert list(await groups.offsets("family", NOW)) == sorted(offsets)


async def test_a_commit_moves_only_its_own_partitions(groups: Groups):
    await groups.commit("family", 1, {("letters", 0): committed(1), ("letters", 1): committed(2)})
    await groups.commit("family", 1, {("letters", 1): committed(5)})
    found = await groups.offsets("family", NOW)
    assert [found["letters", n].offset for n in (0, 1)] == [1, 5]


async def test_an_offset_may_go_back_within_a_generation(groups: Groups):
    await groups.commit("family", 1, {LETTERS: committed(9)})
    assert await groups.commit("family", 1, {LETTERS: committed(4)})
    assert (await groups.offsets("family", NOW))[LETTERS].offset == 4


async def test_a_commit_of_an_older_generation_stores_nothing(groups: Groups):
    await groups.commit("family", 5, {LETTERS: committed(9)})
    assert not await groups.commit("family", 4, {LETTERS: committed(1)})
    assert await groups.offsets("family", NOW) == {LETTERS: committed(9)}


@pytest.mark.parametrize("other", [("letters", 1), ("letters", 99), PARCELS])
async def test_a_commit_that_is_older_on_one_partition_stores_none(
    groups: Groups, other: tuple[str, int]
):
    await groups.commit("family", 5, {LETTERS: committed(9)})
    late = {other: committed(1), LETTERS: committed(1)}
    assert not await groups.commit("family", 4, late)
    assert await groups.offsets("family", NOW) == {LETTERS: committed(9)}


async def test_who_is_no_member_commits_over_any_generation_and_does_not_hide_it(groups: Groups):
    await groups.commit("family", 5, {LETTERS: committed(9)})
    assert await groups.commit("family", -1, {LETTERS: committed(2), PARCELS: committed(3)})
    assert (await groups.offsets("family", NOW))[LETTERS].offset == 2
    assert not await groups.commit("family", 4, {LETTERS: committed(1)})
    assert await groups.commit("family", 5, {LETTERS: committed(10)})


async def test_a_first_commit_of_no_member_is_followed_by_any_generation(groups: Groups):
    await groups.commit("family", -1, {LETTERS: committed(2)})
    assert await groups.commit("family", 0, {LETTERS: committed(3)})
    assert (await groups.offsets("family", NOW))[LETTERS].offset == 3


async def test_an_expired_offset_is_not_returned(groups: Groups):
    offsets = {LETTERS: committed(1, expires_at=NOW), PARCELS: committed(2, expires_at=NOW + 1)}
    await groups.commit("family", -1, offsets)
    assert list(await groups.offsets("family", NOW)) == [PARCELS]
    assert list(await groups.offsets("family", NOW + 1)) == []


async def test_groups_are_listed_whether_they_have_state_or_offsets(groups: Groups):
    await groups.put_group("with-state", GroupItem(1, b"state"), 0)
    await groups.commit("with-offsets", -1, {LETTERS: committed(1)})
    await groups.put_group("with-both", GroupItem(1, b"state"), 0)
    await groups.commit("with-both", 1, {LETTERS: committed(1)})
    assert await groups.group_ids() == ["with-both", "with-offsets", "with-state"]


async def test_a_deleted_group_is_gone_with_its_offsets(groups: Groups):
    await groups.put_group("family", GroupItem(1, b"state"), 0)
    await groups.commit("family", 1, {LETTERS: committed(1), PARCELS: committed(1)})
    await groups.commit("other", 1, {LETTERS: committed(1)})
    assert await groups.delete_group("family", 1)
    assert await groups.group("family") is None
    assert await groups.offsets("family", NOW) == {}
    assert "family" not in await groups.group_ids()
    assert list(await groups.offsets("other", NOW)) == [LETTERS]


async def test_a_group_that_moved_on_is_not_deleted(groups: Groups):
    await groups.put_group("family", GroupItem(1, b"one"), 0)
    await groups.put_group("family", GroupItem(2, b"two"), 1)
    await groups.commit("family", 1, {LETTERS: committed(1)})
    assert not await groups.delete_group("family", 1)
    assert not await groups.delete_group("family", 0)
    assert await groups.group("family") == GroupItem(2, b"two")
    assert list(await groups.offsets("family", NOW)) == [LETTERS]


async def test_a_group_is_forgotten_once_it_has_no_offsets(groups: Groups):
    offsets = {(f"topic-{n}", n): committed(n) for n in range(250)}
    await groups.put_group("family", GroupItem(1, b"state"), 0)
    await groups.commit("family", 1, offsets)
    assert not await groups.forget_group("family", 1, NOW)
    await groups.delete_offsets("family", list(offsets))
    assert not await groups.forget_group("family", 2, NOW), "it has moved on"
    assert await groups.group("family") == GroupItem(1, b"state")
    assert await groups.forget_group("family", 1, NOW)
    assert await groups.group("family") is None
    assert await groups.group_ids() == []
    assert await groups.put_group("family", GroupItem(1, b"new"), 0)
    assert await groups.group_ids() == ["family"]


async def test_a_group_without_state_is_forgotten_too(groups: Groups):
    await groups.commit("family", -1, {LETTERS: committed(1)})
    assert not await groups.forget_group("family", 0, NOW)
    await groups.delete_offsets("family", [LETTERS])
    assert await groups.forget_group("family", 0, NOW)
    assert await groups.group_ids() == []
    await groups.commit("family", -1, {LETTERS: committed(2)})
    assert await groups.group_ids() == ["family"]


async def test_offsets_without_a_group_are_deleted_too(groups: Groups):
    await groups.commit("family", -1, {LETTERS: committed(1)})
    assert await groups.delete_group("family", 0)
    assert await groups.offsets("family", NOW) == {}
    assert await groups.group_ids() == []


async def test_a_group_of_a_deleted_ones_name_starts_anew(groups: Groups):
    await groups.put_group("family", GroupItem(1, b"state"), 0)
    await groups.commit("family", 9, {LETTERS: committed(1)})
    await groups.delete_group("family", 1)
    assert await groups.put_group("family", GroupItem(1, b"new"), 0)
    assert await groups.commit("family", 1, {LETTERS: committed(2)})
    assert await groups.group_ids() == ["family"]


async def test_a_group_of_250_topics_is_deleted_whole(groups: Groups):
    await groups.put_group("family", GroupItem(1, b"state"), 0)
    await groups.commit("family", 1, {(f"topic-{n}", 0): committed(n) for n in range(250)})
    assert len(await groups.offsets("family", NOW)) == 250
    assert await groups.delete_group("family", 1)
    assert await groups.offsets("family", NOW) == {}


async def test_deleted_offsets_are_gone_and_the_others_stay(groups: Groups):
    offsets = {(topic, n): committed(n) for topic in ("a", "b") for n in (0, 1, 50)}
    await groups.commit("family", 1, offsets)
    await groups.delete_offsets("family", [("a", 1), ("a", 50), ("b", 0), ("c", 0), ("a", 7)])
    assert list(await groups.offsets("family", NOW)) == [("a", 0), ("b", 1), ("b", 50)]


async def test_deleting_the_offsets_of_an_unknown_group_leaves_no_group(groups: Groups):
    await groups.delete_offsets("family", [LETTERS])
    assert await groups.group_ids() == []


async def test_only_offsets_committed_before_a_time_are_deleted(groups: Groups):
    offsets = {("a", 0): committed(1, at=NOW), ("a", 1): committed(1, at=NOW - 1)}
    await groups.commit("family", 1, offsets)
    await groups.delete_offsets("family", list(offsets), NOW)
    assert list(await groups.offsets("family", NOW)) == [("a", 0)]


async def test_a_forgotten_topic_goes_from_every_group_but_for_younger_commits(groups: Groups):
    old, young = committed(1, at=NOW - 1), committed(2, at=NOW)
    for group in ("one", "two"):
        await groups.put_group(group, GroupItem(1, b"state"), 0)
        await groups.commit(group, 1, {("a", 0): old, ("a", 1): young, ("ab", 0): old})
    await groups.commit("three", -1, {("a", 3): old})
    await groups.forget_topic("a", NOW)
    for group in ("one", "two"):
        assert list(await groups.offsets(group, NOW)) == [("a", 1), ("ab", 0)]
    assert await groups.offsets("three", NOW) == {}


@pytest.mark.parametrize("name", ["", "a/b#c d", "ü" * 200, "g" * 32_000])
async def test_a_group_may_have_any_name(groups: Groups, name: str):
    await groups.put_group(name, GroupItem(1, b"state"), 0)
    await groups.commit(name, 1, {LETTERS: committed(1)})
    assert await groups.group_ids() == [name]
    assert await groups.group(name) == GroupItem(1, b"state")
    assert list(await groups.offsets(name, NOW)) == [LETTERS]
    assert await groups.delete_group(name, 1)
    assert await groups.group_ids() == []


async def test_calls_are_counted(groups: Groups):
    await groups.group("family")
    await groups.commit("family", 1, {LETTERS: committed(1)})
    assert groups.calls == {"group": 1, "commit": 1}
