"""Memory for requests: what is charged, who waits, and that nobody waits for ever."""

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samsa_broker.server.buffer import COPIED, PREFIX, SMALL, ReceiveBuffer, capacity_for
from samsa_broker.server.memory import ORDINARY, MemoryClaim, RequestMemory

MB = 1024 * 1024
MAX_FRAME = 100 * MB


def receive(buffer: ReceiveBuffer, data: bytes) -> None:
    """As from a socket that has it all: the buffer grows when it is full."""
    sent = 0
    while sent < len(data):
        if buffer.is_full:
            if buffer.wanted() > buffer.capacity:
                buffer.resize(buffer.wanted())
            else:
                buffer.make_room()
        room = buffer.room()
        count = min(len(room), len(data) - sent)
        room[:count] = data[sent : sent + count]
        buffer.filled(count)
        sent += count


@pytest.mark.parametrize("arrived", [0, 10, SMALL, 100_000, MB, 5 * MB])
def test_a_buffer_grows_with_what_has_arrived_whatever_is_announced(arrived: int):
    buffer = ReceiveBuffer(MAX_FRAME)
    receive(buffer, MAX_FRAME.to_bytes(4, "big") + bytes(arrived))
    assert buffer.capacity <= max(SMALL, 4 * (arrived + PREFIX))


def test_a_large_frame_that_came_in_many_steps_is_whole():
    frame = random.Random(1).randbytes(9 * MB)
    buffer = ReceiveBuffer(MAX_FRAME)
    receive(buffer, len(frame).to_bytes(4, "big") + frame)
    taken = buffer.take()
    assert taken == frame
    assert buffer.capacity <= capacity_for(len(frame))
    del taken
    buffer.release()
    buffer.resize(SMALL)
    receive(buffer, b"\0\0\0\3abc")
    assert buffer.take() == b"abc"


def test_what_is_beyond_a_megabyte_is_never_copied_again():
    buffer = ReceiveBuffer(MAX_FRAME)
    receive(buffer, MAX_FRAME.to_bytes(4, "big") + bytes(COPIED))
    room = buffer.room()
    receive(buffer, bytes(20 * MB))
    assert buffer._view.obj is room.obj


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_six_half_arrived_requests_leave_room_for_an_ordinary_one():
    memory = RequestMemory(256 * MB, MAX_FRAME)
    claims = [MemoryClaim() for _ in range(6)]
    growing = [asyncio.create_task(memory.grow(c, 104 * MB)) for c in claims]
    await turns()
    ordinary = MemoryClaim()
    await asyncio.wait_for(memory.grow(ordinary, ORDINARY), 1)
    assert [task.done() for task in growing].count(True) == 1
    for task in growing:
        task.cancel()


async def test_a_waiter_that_gives_up_is_forgotten():
    memory = RequestMemory(256 * MB, MAX_FRAME)
    first, second = MemoryClaim(), MemoryClaim()
    await memory.grow(first, 104 * MB)
    assert first.first
    waiting = asyncio.create_task(memory.grow(second, 104 * MB))
    await turns()
    assert memory.contended
    waiting.cancel()
    await turns()
    assert not memory.contended
    assert not second.first
    memory.shrink(first)
    await memory.grow(second, 104 * MB)


class Request:
    """Of some size; it arrives step by step as a buffer grows, then it is handled."""

    def __init__(self, memory: RequestMemory, size: int) -> None:
        self.claim, self._memory, self._size = MemoryClaim(), memory, size

    async def arrive(self) -> None:
        capacity = SMALL
        while capacity < capacity_for(self._size):
            capacity = min(4 * capacity, capacity_for(self._size))
            await self._memory.grow(self.claim, capacity)
            await asyncio.sleep(0)
        self._memory.shrink(self.claim)


@given(st.lists(st.integers(0, MAX_FRAME), min_size=1, max_size=60), st.integers(1, 512 * MB))
@settings(max_examples=100)
def test_requests_of_any_size_all_arrive_and_stay_within_the_memory(
    sizes: list[int], total: int
) -> None:
    async def serve() -> None:
        memory = RequestMemory(total, MAX_FRAME)
        most = memory.left + capacity_for(MAX_FRAME)
        requests = [Request(memory, size) for size in sizes]
        tasks = [asyncio.create_task(each.arrive()) for each in requests]
        for _ in range(100 * len(sizes)):
            await asyncio.sleep(0)
            assert sum(each.claim.size for each in requests) <= most
            assert memory.left >= 0
            assert sum(each.claim.first for each in requests) <= 1
        assert all(task.done() for task in tasks), "some wait for each other"
        assert memory.left == most - capacity_for(MAX_FRAME)

    asyncio.run(serve())
