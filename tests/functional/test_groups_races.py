"""Many coordinators at once. SQLite is raced by processes, DynamoDB Local by threads; moto is not
raced, as in the races of the ledgers."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from functional.groups_given import NOW, committed, open_groups
from functional.racers import Race, race_of_processes, race_of_tasks

from samsa.ports import GroupItem, Groups, Ledger

RACERS = 24


class Track(NamedTuple):
    groups: Groups
    race: Race


@pytest.fixture(params=["sqlite", "dynamodb-local"])
async def track(
    request: pytest.FixtureRequest, tmp_path: Path, closing: list[Ledger]
) -> AsyncIterator[Track]:
    groups = await open_groups(request.param, tmp_path, request)
    if request.param == "sqlite":
        from samsa.local.sqlite_groups import SqliteGroups

        crowd = request.getfixturevalue("crowd")
        opened = partial(SqliteGroups, str(tmp_path / "ledger.db"))
        yield Track(groups, partial(race_of_processes, crowd, opened))
    else:
        yield Track(groups, partial(race_of_tasks, [groups]))
    await groups.close()


async def test_of_many_states_after_one_version_exactly_one_is_stored(track: Track):
    for after in range(5):
        states = [f"{after} {racer}".encode() for racer in range(RACERS)]
        stored = await track.race(
            [("put_group", "family", GroupItem(after + 1, state), after) for state in states]
        )
        assert sum(stored) == 1
        assert await track.groups.group("family") == (after + 1, states[stored.index(True)])


async def test_of_a_put_and_a_delete_of_one_version_exactly_one_succeeds(track: Track):
    for round_ in range(8):
        group = f"family-{round_}"
        await track.groups.put_group(group, GroupItem(1, b"state"), 0)
        await track.groups.commit(group, 1, {("letters", 0): committed(1)})
        put, deleted = await track.race(
            [("put_group", group, GroupItem(2, b"next"), 1), ("delete_group", group, 1)]
        )
        assert put != deleted
        assert bool(await track.groups.offsets(group, NOW)) == put


@pytest.mark.parametrize("pending", [True, False])
async def test_a_group_is_forgotten_or_has_its_first_offsets_and_a_name(
    track: Track, pending: bool
):
    for round_ in range(8):
        group, offsets = f"family-{round_}", {("letters", 0): committed(1)}
        await track.groups.commit(group, -1, offsets)
        await track.groups.delete_offsets(group, list(offsets))
        first = (
            ("add_pending", group, 7, 1, offsets, NOW)
            if pending
            else ("commit", group, -1, offsets)
        )
        added, _ = await track.race([first, ("forget_group", group, 0, NOW)])
        assert added
        if pending:
            await track.groups.end_pending(group, 7, 1, True, NOW)
        assert await track.groups.offsets(group, NOW) == offsets
        assert group in await track.groups.group_ids()


async def test_members_that_commit_side_by_side_all_commit(track: Track):
    commits = [
        ("commit", "family", 1, {("letters", n): committed(n), ("parcels", n): committed(n)})
        for n in range(RACERS)
    ]
    assert all(await track.race(commits))
    found = await track.groups.offsets("family", NOW)
    assert len(found) == 2 * RACERS
    assert all(found[topic, n].offset == n for topic, n in found)


async def test_the_newest_generation_that_commits_is_the_one_that_stays(track: Track):
    """And what is stored came whole from one commit: both partitions, or neither."""
    generations = list(range(RACERS))
    where = [("letters", 0), ("letters", 40)]
    commits = [("commit", "family", g, dict.fromkeys(where, committed(g))) for g in generations]
    stored = await track.race(commits)
    assert stored[-1]
    found = await track.groups.offsets("family", NOW)
    assert [found[w].offset for w in where] == [RACERS - 1] * 2
