"""Stores in memory: their limit, and what they refuse."""

import logging
from collections.abc import AsyncIterator

import pytest

from samsa.local.memory import MemoryObjects
from samsa.local.memory_ledger import MemoryGroups, MemoryLedger
from samsa.local.memory_room import FULL_MEMORY, OBJECT_OVERHEAD, MemoryRoom
from samsa.ports import GroupItem, StorageError
from samsa.runtime.store_address import BadUrl
from samsa.runtime.store_urls import open_ledger, open_objects

MOST = 10_000
PIECE = 1_000 - OBJECT_OVERHEAD


def a_room() -> MemoryRoom:
    return MemoryRoom(MOST)


async def in_parts(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_objects_are_refused_above_the_limit_and_taken_again_when_some_have_gone():
    objects = MemoryObjects(a_room())
    for number in range(10):
        assert await objects.put_if_absent(f"log/{number}", [bytes(PIECE)])
    with pytest.raises(StorageError, match=FULL_MEMORY):
        await objects.put_if_absent("log/10", [b"one more"])
    assert not await objects.put_if_absent("log/9", [b"there already"])
    await objects.delete(["log/3", "log/3", "log/none"])
    assert await objects.put_if_absent("log/10", [bytes(PIECE)])
    with pytest.raises(StorageError):
        await objects.put_if_absent("log/11", [bytes(PIECE)])


async def test_upkeep_may_use_a_quarter_more():
    """A merge needs room before it makes room."""
    objects = MemoryObjects(a_room())
    await objects.put_if_absent("log/full", [bytes(MOST - OBJECT_OVERHEAD)])
    await objects.put_stream("log/merged", in_parts(bytes(1_000), bytes(1_000)))
    with pytest.raises(StorageError):
        await objects.put_stream("log/more", in_parts(bytes(1_000)))
    assert await objects.get("log/merged") == bytes(2_000)


async def test_a_stream_that_replaces_an_object_counts_once():
    room = a_room()
    objects = MemoryObjects(room)
    for _ in range(50):
        await objects.put_stream("log/one", in_parts(bytes(PIECE)))
    assert room.used == 1_000


async def test_an_episode_of_refusals_is_two_lines_in_the_log(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "samsa.storage")
    objects = MemoryObjects(a_room())
    await objects.put_if_absent("log/full", [bytes(MOST - OBJECT_OVERHEAD)])
    for number in range(3):
        with pytest.raises(StorageError):
            await objects.put_if_absent(f"log/{number}", [b"no"])
    await objects.delete(["log/full"])
    await objects.put_if_absent("log/yes", [b"yes"])
    told = [record.getMessage() for record in caplog.records]
    assert told == [FULL_MEMORY, "there is memory for records again"]


async def test_a_ledger_counts_with_the_objects():
    room = MemoryRoom()
    ledger, groups = MemoryLedger(room), MemoryGroups(room)
    before = room.used
    await groups.put_group("family", GroupItem(1, bytes(1_000_000)), 0)
    assert room.used - before >= 1_000_000
    await groups.close()
    await ledger.close()


async def test_a_full_ledger_is_a_storage_error_until_something_is_deleted():
    groups = MemoryGroups(a_room())

    async def fill() -> None:
        for number in range(400):
            await groups.put_group(f"group-{number}", GroupItem(1, bytes(100_000)), 0)

    with pytest.raises(StorageError, match=FULL_MEMORY):
        await fill()
    assert await groups.group("group-0") == GroupItem(1, bytes(100_000))
    for number in range(10):
        assert await groups.delete_group(f"group-{number}", 1)
    assert await groups.put_group("one-more", GroupItem(1, bytes(100_000)), 0)
    await groups.close()


async def test_objects_elsewhere_do_not_go_with_a_ledger_in_memory():
    """It would forget them."""
    ledger = await open_ledger("memory:///", fsync=False)
    with pytest.raises(BadUrl, match="try memory:///"):
        open_objects("file:///nowhere", False, 0, ledger)
    await ledger.close()


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("log/a/", ["log/a/0/x", "log/a/0/y", "log/a/1/x"]),
        ("log/a/0/", ["log/a/0/x", "log/a/0/y"]),
        ("log/a/0/y", ["log/a/0/y"]),
        ("log/a", ["log/a/0/x", "log/a/0/y", "log/a/1/x", "log/ab/0/x"]),
        ("", ["log/a/0/x", "log/a/0/y", "log/a/1/x", "log/ab/0/x", "top"]),
        ("log/a/2/", []),
    ],
)
async def test_a_listing_has_the_keys_with_its_prefix_in_order(prefix: str, expected: list[str]):
    objects = MemoryObjects()
    for key in ("top", "log/ab/0/x", "log/a/1/x", "log/a/0/y", "log/a/0/x", "gone/0"):
        await objects.put_if_absent(key, [b"data"])
    await objects.delete(["gone/0"])
    assert [key async for key in objects.list(prefix)] == expected
