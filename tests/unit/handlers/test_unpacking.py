"""Long work on records: off the event loop, in memory that is reserved, and given back."""

import asyncio
import gc
import threading
import weakref

import pytest

from samsa.broker.unpacking import LARGE, SLICES, Long, Unpacking, briefly
from samsa.broker.work import Work
from samsa.records.errors import InvalidRecord
from samsa.records.unpack import Making


class Piece:
    """Something that was unpacked."""


def short() -> Making[str]:
    yield None
    return "done"


def endless_until(stop: threading.Event) -> Making[str]:
    while not stop.is_set():
        yield None
    return "done"


def making(size: int, under_way: list[int], most: list[int]) -> Making[str]:
    yield size
    under_way.append(size)
    most.append(len(under_way))
    for _ in range(50):
        yield None
    under_way.pop()
    return "done"


def failing(seen: "list[weakref.ref[Piece]]", makes: int) -> Making[str]:
    yield makes
    piece = Piece()
    seen.append(weakref.ref(piece))
    try:
        raise IndexError
    except IndexError:
        raise InvalidRecord("a record is cut") from None


def test_short_work_is_done_at_once() -> None:
    assert briefly(short()) == "done"


def test_work_that_unpacks_or_goes_on_is_not_done_at_once() -> None:
    unpacks = briefly(making(5, [], []))
    assert isinstance(unpacks, Long)
    assert unpacks.makes == 5
    stop = threading.Event()
    steps = endless_until(stop)
    assert isinstance(briefly(steps), Long)
    stop.set()
    assert briefly(steps) == "done"


def test_a_few_bites_are_done_before_the_rest_is_left() -> None:
    seen: list[int] = []

    def steps() -> Making[None]:
        for number in range(100):
            seen.append(number)
            yield None

    assert isinstance(briefly(steps()), Long)
    assert len(seen) == SLICES


async def test_the_event_loop_goes_on_beside_long_work() -> None:
    stop = threading.Event()
    task = asyncio.ensure_future(Unpacking(Work()).run(endless_until(stop)))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not task.done()
    stop.set()
    assert await task == "done"


async def test_of_large_pieces_there_is_one_at_a_time_and_small_ones_do_not_wait_for_it() -> None:
    unpacking = Unpacking(Work())
    stop = threading.Event()

    def large() -> Making[str]:
        yield LARGE * 100
        return (yield from endless_until(stop))

    waiting = [asyncio.ensure_future(unpacking.run(large())) for _ in range(3)]
    most: list[int] = []
    small = [unpacking.run(making(1_000, [], most)) for _ in range(20)]
    assert await asyncio.gather(*small) == ["done"] * 20
    stop.set()
    assert await asyncio.gather(*waiting) == ["done"] * 3
    under_way: list[int] = []
    most = []
    await asyncio.gather(*(unpacking.run(making(LARGE * 100, under_way, most)) for _ in range(5)))
    assert most == [1] * 5


async def test_all_small_pieces_together_stay_within_their_memory() -> None:
    unpacking = Unpacking(Work())
    under_way: list[int] = []
    most: list[int] = []
    await asyncio.gather(*(unpacking.run(making(LARGE, under_way, most)) for _ in range(12)))
    assert max(most) <= 4


async def test_what_failed_work_unpacked_is_free_before_any_collection() -> None:
    seen: list[weakref.ref[Piece]] = []
    unpacking = Unpacking(Work())
    gc.disable()
    try:
        for _ in range(3):
            with pytest.raises(InvalidRecord):
                await unpacking.run(failing(seen, 10))
        assert [one() for one in seen] == [None] * 3
    finally:
        gc.enable()


async def test_memory_is_given_back_when_work_fails_or_is_cancelled() -> None:
    unpacking = Unpacking(Work())
    with pytest.raises(InvalidRecord):
        await unpacking.run(failing([], LARGE * 100))
    stop = threading.Event()

    def large() -> Making[str]:
        yield LARGE * 100
        return (yield from endless_until(stop))

    task = asyncio.ensure_future(unpacking.run(large()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    stop.set()
    assert await unpacking.run(making(LARGE * 100, [], [])) == "done"
