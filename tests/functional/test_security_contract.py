"""Entries of access control: what every store of them promises in `ports`."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from functional.conftest import LEDGERS
from functional.groups_given import open_groups

from samsa.ports import (
    Groups,
    ItemTooLarge,
    Ledger,
    SecurityChange,
    SecurityEntry,
    SecurityKind,
    SecurityState,
)
from samsa.ports.bounds import MOST_CHANGED_AT_ONCE, MOST_ENTRY_BYTES

ACL, QUOTA, CREDENTIAL = SecurityKind.ACL, SecurityKind.QUOTA, SecurityKind.CREDENTIAL
READ, WRITE = SecurityEntry(ACL, "may read"), SecurityEntry(ACL, "may write")
LIMIT, PASSWORD = SecurityEntry(QUOTA, "alice", "1024"), SecurityEntry(CREDENTIAL, "alice", "salt")


@pytest.fixture(params=LEDGERS)
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, closing: list[Ledger]
) -> AsyncIterator[Groups]:
    store = await open_groups(request.param, tmp_path, request)
    yield store
    await store.close()


def adding(*entries: SecurityEntry, id: str = "one") -> SecurityChange:  # noqa: A002
    return SecurityChange(id, entries)


def removing(*entries: SecurityEntry, id: str = "two") -> SecurityChange:  # noqa: A002
    return SecurityChange(id, (), entries)


def in_order(state: SecurityState) -> list[SecurityEntry]:
    return sorted(state.entries)


async def test_a_new_store_has_version_0_and_nothing(store: Groups):
    assert await store.security_version() == 0
    assert await store.security() == SecurityState(0, [])


async def test_what_was_put_comes_back_with_the_next_version(store: Groups):
    assert await store.change_security(adding(READ, LIMIT, PASSWORD), 0)
    state = await store.security()
    assert in_order(state) == [READ, LIMIT, PASSWORD]
    assert state.version == await store.security_version() == 1


async def test_a_put_replaces_the_entry_of_its_kind_and_name(store: Groups):
    await store.change_security(adding(LIMIT, PASSWORD), 0)
    assert await store.change_security(adding(LIMIT._replace(value="2048"), id="two"), 1)
    assert in_order(await store.security()) == [LIMIT._replace(value="2048"), PASSWORD]


async def test_one_change_puts_and_removes(store: Groups):
    await store.change_security(adding(READ, LIMIT), 0)
    assert await store.change_security(SecurityChange("two", [WRITE], [READ]), 1)
    assert in_order(await store.security()) == [WRITE, LIMIT]


async def test_removing_what_is_not_there_is_a_change(store: Groups):
    assert await store.change_security(removing(READ), 0)
    assert await store.security() == SecurityState(1, [])


@pytest.mark.parametrize("after", [0, 2])
async def test_a_change_after_another_version_changes_nothing(store: Groups, after: int):
    await store.change_security(adding(READ), 0)
    other = SecurityChange("two", [WRITE], [READ])
    assert not await store.change_security(other, after)
    assert await store.security() == SecurityState(1, [READ])


async def test_a_change_that_is_repeated_succeeds_again_and_counts_once(store: Groups):
    change = adding(READ)
    assert await store.change_security(change, 0)
    assert await store.change_security(change, 0)
    assert await store.security_version() == 1


async def test_a_change_that_is_repeated_after_another_one_is_refused(store: Groups):
    await store.change_security(adding(READ), 0)
    await store.change_security(removing(READ), 1)
    assert not await store.change_security(adding(READ), 0)
    assert await store.security() == SecurityState(2, [])


async def test_of_two_changes_at_a_time_one_is_refused(store: Groups):
    done = await asyncio.gather(
        store.change_security(adding(READ), 0), store.change_security(adding(WRITE, id="two"), 0)
    )
    assert sorted(done) == [False, True]
    assert (await store.security()).entries == [WRITE if done[1] else READ]


async def test_names_of_any_length_and_alphabet_are_told_apart(store: Groups):
    names = ["", "*", "é", "日本", "#", "a" * 5_000, "a" * 5_001, "O'Brien \x00\x7f"]
    entries = [SecurityEntry(ACL, name, f"{number}") for number, name in enumerate(names)]
    await store.change_security(adding(*entries), 0)
    assert in_order(await store.security()) == sorted(entries)


async def test_the_largest_change_of_the_largest_entries_is_stored(store: Groups):
    room = MOST_ENTRY_BYTES - 4_000
    entries = [
        SecurityEntry(ACL, f"{number:04d}" * 1_000, "v" * room)
        for number in range(MOST_CHANGED_AT_ONCE)
    ]
    assert await store.change_security(adding(*entries), 0)
    assert in_order(await store.security()) == entries
    assert await store.change_security(removing(*entries), 1)
    assert await store.security() == SecurityState(2, [])


@pytest.mark.parametrize(
    "entries",
    [
        [SecurityEntry(ACL, "n", "v" * MOST_ENTRY_BYTES)],
        [SecurityEntry(ACL, "é" * (MOST_ENTRY_BYTES // 2 + 1))],
        [SecurityEntry(ACL, f"{number}") for number in range(MOST_CHANGED_AT_ONCE + 1)],
    ],
)
async def test_a_change_beyond_its_bounds_is_refused_whole(
    store: Groups, entries: list[SecurityEntry]
):
    with pytest.raises(ItemTooLarge):
        await store.change_security(adding(*entries), 0)
    with pytest.raises(ItemTooLarge):
        await store.change_security(removing(*entries), 0)
    assert await store.security() == SecurityState(0, [])
