"""Appends that come while a put is under way share the next one."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest

from samsa.aws import shared_puts
from samsa.aws.shared_puts import SharedPuts, StoredAt
from samsa.local.memory import MemoryObjects
from samsa.ports import Buffer, Partition, Unavailable
from samsa.ports.windows import (
    WINDOWS,
    WindowRow,
    directory_size,
    put_at,
    read_directory,
)

ONE, TWO, THREE = (Partition(UUID(int=n), n) for n in (1, 2, 3))
NOW = 1_700_000_000_000


class Clock:
    def now_ms(self) -> int:
        return NOW


class GatedObjects(MemoryObjects):
    """Puts that end when they are let through."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.begun: list[str] = []
        self.error: Exception | None = None

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        self.begun.append(key)
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return await super().put_if_absent(key, parts)


class Given:
    def __init__(self, small_too: bool = False) -> None:
        self.objects = GatedObjects()
        words = iter(f"w{n}" for n in range(100))
        self.puts = SharedPuts(self.objects, words.__next__, Clock(), small_too)

    async def put(
        self, partition: Partition, data: bytes, guess: int = 0
    ) -> "asyncio.Task[StoredAt]":
        """Begun, and as far as it comes without an answer."""
        task = asyncio.create_task(self.puts.put(partition, data.decode(), guess, [data], 0))
        for _ in range(4):
            await asyncio.sleep(0)
        return task

    async def stored(self, place: StoredAt, size: int) -> bytes:
        return bytes(await self.objects.get(place.key, place.start, size))


async def test_an_append_alone_has_an_object_of_its_partition():
    given = Given()
    given.objects.gate.set()
    place = await (await given.put(ONE, b"one"))
    assert place == (f"log/{ONE.topic_id}/1/one", 0)
    assert await given.stored(place, 10) == b"one"


async def test_appends_of_one_turn_of_the_loop_share_a_window():
    given = Given()
    given.objects.gate.set()
    puts = [
        given.puts.put(ONE, "a", 7, [b"on", b"e"], 0),
        given.puts.put(TWO, "b", 9, [b"second"], 0),
    ]
    one, two = await asyncio.gather(*puts)
    assert one.key == two.key
    assert one.key.startswith(WINDOWS)
    assert given.objects.calls["put"] == 1
    assert await given.stored(one, 3) == b"one"
    assert await given.stored(two, 6) == b"second"
    found = read_directory(await given.objects.get(one.key, 0, directory_size(one.key)))
    assert found == [WindowRow(ONE, 7), WindowRow(TWO, 9)]
    assert put_at(one.key) == NOW


async def test_what_comes_while_a_put_is_under_way_shares_the_next():
    given = Given()
    tasks = [await given.put(p, p.topic_id.hex[-1].encode()) for p in (ONE, TWO, THREE)]
    assert len(given.objects.begun) == 1
    given.objects.gate.set()
    first, second, third = await asyncio.gather(*tasks)
    assert first.key != second.key == third.key
    assert len(given.objects.begun) == 2


async def test_a_full_window_does_not_wait_for_the_put_before(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shared_puts, "WINDOW_BYTES", 10)
    given = Given()
    tasks = [await given.put(ONE, b"first"), await given.put(TWO, b"second")]
    assert len(given.objects.begun) == 1
    tasks.append(await given.put(THREE, b"third"))
    assert len(given.objects.begun) == 2
    given.objects.gate.set()
    places = await asyncio.gather(*tasks)
    assert len({place.key for place in places}) == 3  # two of them are more than a window holds


async def test_no_more_puts_than_a_few_are_under_way(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shared_puts, "WINDOW_BYTES", 1)
    given = Given()
    tasks = [await given.put(ONE, str(n).encode()) for n in range(20)]
    assert len(given.objects.begun) == shared_puts.MOST_PUTS
    given.objects.gate.set()
    assert len({place.key for place in await asyncio.gather(*tasks)}) == 20


async def test_everyone_hears_of_a_put_that_failed_and_the_next_goes_on():
    given = Given()
    given.objects.error = Unavailable("down")
    tasks = [await given.put(p, b"x") for p in (ONE, TWO, THREE)]
    given.objects.gate.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(error) for error in results] == ["down"] * 3
    given.objects.error = None
    assert (await (await given.put(ONE, b"again"))).key.endswith("/again")


async def test_what_nobody_waits_for_any_more_is_not_written():
    """Its memory may hold another request by then."""
    given = Given()
    tasks = [await given.put(p, p.topic_id.hex[-1].encode()) for p in (ONE, TWO, THREE)]
    tasks[1].cancel()
    given.objects.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await tasks[1]
    third = await tasks[2]
    assert third == (f"log/{THREE.topic_id}/3/3", 0)


async def test_a_cancelled_append_does_not_call_off_the_put_that_others_share():
    given = Given()
    first = await given.put(ONE, b"1")
    second, third = await given.put(TWO, b"2"), await given.put(THREE, b"3")
    given.objects.gate.set()
    await first
    second.cancel()
    place = await third
    assert await given.stored(place, 1) == b"3"


async def test_small_appends_stay_in_their_heads():
    given = Given()
    puts = [given.puts.put(partition, "x", 0, [b"1234567890"], 10) for partition in (ONE, TWO)]
    assert await asyncio.gather(*puts) == [None] * 2
    assert given.objects.begun == []


async def test_where_appends_wait_small_ones_share_an_object_once_they_are_many():
    given = Given(small_too=True)
    given.objects.gate.set()
    few = [given.puts.put(partition, "x", 0, [b"12345"], 10) for partition in (ONE, TWO)]
    assert await asyncio.gather(*few) == [None] * 2
    many = [given.puts.put(partition, "y", 0, [b"12345"], 10) for partition in (ONE, TWO, THREE)]
    places = await asyncio.gather(*many)
    assert [place is not None for place in places] == [True] * 3
    assert len(given.objects.begun) == 1


async def test_a_head_without_room_sends_all_that_it_waits_with_to_an_object():
    given = Given(small_too=True)
    given.objects.gate.set()
    puts = [given.puts.put(ONE, "x", 0, [b"1"], 10), given.puts.put(TWO, "y", 0, [b"2"], 0)]
    places = await asyncio.gather(*puts)
    assert [place is not None for place in places] == [True, True]
