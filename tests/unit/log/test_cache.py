import asyncio

import pytest

from samsa.local.memory import MemoryObjects
from samsa.log.cache import WHOLE_OBJECT, TailCache
from samsa.ports import Missing


class SlowObjects(MemoryObjects):
    """Reads wait until they are let through."""

    def __init__(self) -> None:
        super().__init__()
        self.open = asyncio.Event()

    async def get(self, key, start=0, length=None):
        await self.open.wait()
        return await super().get(key, start, length)


async def holding(objects: MemoryObjects, **stored: bytes) -> None:
    for key, data in stored.items():
        await objects.put_if_absent(key, [data])
    objects.calls.clear()


async def test_what_was_written_is_read_from_memory():
    objects = MemoryObjects()
    cache = TailCache(objects, 1_000)
    assert await cache.put_if_absent("a", [b"12", b"345"])
    assert bytes(await cache.get("a")) == b"12345"
    assert bytes(await cache.piece("a", 1, 3)) == b"234"
    assert objects.calls["get"] == 0


async def test_a_refused_put_is_not_what_is_there():
    objects = MemoryObjects()
    await holding(objects, a=b"theirs")
    cache = TailCache(objects, 1_000)
    assert not await cache.put_if_absent("a", [b"ours"])
    assert bytes(await cache.get("a")) == b"theirs"


async def test_the_cache_never_holds_more_than_it_may():
    objects = MemoryObjects()
    cache = TailCache(objects, 100)
    for number in range(20):
        await cache.put_if_absent(f"{number:02d}", [b"x" * 25])
    objects.calls.clear()
    for number in range(20):
        await cache.get(f"{number:02d}")
    assert objects.calls["get"] == 16


async def test_what_was_read_last_stays_longest():
    objects = MemoryObjects()
    cache = TailCache(objects, 100)
    for key in "abcd":
        await cache.put_if_absent(key, [b"x" * 25])
    await cache.get("a")
    await cache.put_if_absent("e", [b"x" * 25])
    objects.calls.clear()
    await cache.get("a")
    assert objects.calls["get"] == 0
    await cache.get("b")
    assert objects.calls["get"] == 1


async def test_an_object_that_would_push_out_all_others_is_not_kept():
    objects = MemoryObjects()
    cache = TailCache(objects, 100)
    await cache.put_if_absent("small", [b"x"])
    await cache.put_if_absent("large", [b"x" * 26])
    await cache.get("small")
    assert objects.calls["get"] == 0
    await cache.get("large")
    assert objects.calls["get"] == 1


async def test_what_was_deleted_leaves_room():
    objects = MemoryObjects()
    cache = TailCache(objects, 100)
    for key in "abcd":
        await cache.put_if_absent(key, [b"x" * 25])
    await cache.delete(["a", "b", "never there"])
    for key in "ef":
        await cache.put_if_absent(key, [b"x" * 25])
    objects.calls.clear()
    for key in "cdef":
        await cache.get(key)
    assert objects.calls["get"] == 0
    with pytest.raises(Missing):
        await cache.get("a")


async def test_readers_that_want_an_object_at_once_fetch_it_once():
    objects = SlowObjects()
    await holding(objects, a=b"0123456789")
    cache = TailCache(objects, 1_000)
    reads = asyncio.gather(*(cache.piece("a", n, 2) for n in range(5)))
    await asyncio.sleep(0)
    objects.open.set()
    assert [bytes(piece) for piece in await reads] == [b"01", b"12", b"23", b"34", b"45"]
    assert objects.calls["get"] == 1


async def test_a_reader_that_goes_away_does_not_stop_the_others():
    objects = SlowObjects()
    await holding(objects, a=b"0123456789")
    cache = TailCache(objects, 1_000)
    first, second = (asyncio.create_task(cache.piece("a", n, 2)) for n in (0, 1))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    objects.open.set()
    assert bytes(await second) == b"12"


async def test_all_who_wait_hear_that_an_object_is_missing():
    cache = TailCache(MemoryObjects(), 1_000)
    heard = await asyncio.gather(
        *(cache.piece("a", 0, 1) for _ in range(3)), return_exceptions=True
    )
    assert [type(error) for error in heard] == [Missing] * 3


async def test_a_failure_is_not_remembered():
    objects = MemoryObjects()
    cache = TailCache(objects, 1_000)
    with pytest.raises(Missing):
        await cache.piece("a", 0, 1)
    await holding(objects, a=b"now")
    assert bytes(await cache.piece("a", 0, 3)) == b"now"


async def test_a_range_far_into_a_large_object_is_fetched_alone():
    objects = MemoryObjects()
    await holding(objects, a=b"x" * (WHOLE_OBJECT + 10))
    cache = TailCache(objects, 10 * WHOLE_OBJECT)
    assert len(await cache.piece("a", WHOLE_OBJECT, 10)) == 10
    await cache.piece("a", WHOLE_OBJECT, 10)
    assert objects.calls["get"] == 2
