"""What every client does: makes batches, waits for answers, loses connections."""

import asyncio
from typing import TYPE_CHECKING, Any

from samsa.log.layout import Batch
from samsa.ports import Unavailable
from samsa.records import Record, build, read_header

from .process import Process

if TYPE_CHECKING:
    from .world import World

PATIENT_S = 100


class Gone(Exception):
    """The connection is lost, and with it the answer."""


LATER = (Gone, Unavailable)
"""After these a client asks again."""


class Client:
    def __init__(self, world: "World", name: str) -> None:
        self.world = world
        self.name = name
        self._patience = world.rng.choice((0.1, 0.3, 2, 10))
        self._think = world.rng.choice((0.02, 0.3, 1.0))

    async def think(self, longest: float | None = None) -> None:
        await asyncio.sleep(self.world.rng.random() * (longest or self._think))

    async def answer(self, process: Process, future: "asyncio.Future[Any]") -> Any:
        """The process may die before it answers, or be too slow; what it does then, it does."""
        patience = PATIENT_S if self.world.weather.calm else self._patience
        await either(future, process.died, patience)
        if not future.done():
            self.world.note(self.name, "loses", process.name)
            self._patience *= 1.5
            raise Gone
        return future.result()


async def either(
    one: "asyncio.Future[Any]", other: "asyncio.Future[Any]", timeout_s: float
) -> None:
    """`asyncio.wait` for the first of two, which every request does."""
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()

    def release(_: Any = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = loop.call_later(timeout_s, release)
    for future in (one, other):
        future.add_done_callback(release)
    await waiter
    timer.cancel()
    for future in (one, other):
        future.remove_done_callback(release)


def batch_of(label: str, count: int, **producer: int) -> bytes:
    records = [Record(n, 1000 + n, None, f"{label}/{n}".encode()) for n in range(count)]
    return build(records, **producer)


def sendable(batch: bytes) -> Batch:
    """In memory of its own: the log patches it."""
    data = bytearray(batch)
    return Batch(read_header(data), memoryview(data))
