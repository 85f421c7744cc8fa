"""Whole requests, from the frame to the encoded answer: everything but the socket."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from samsa.broker.broker import Broker, Held, Later
from samsa.dispatch import answer, encode
from samsa.log.stores import Stores
from samsa.ports import Partition
from samsa.wire.frame import read_request

from .frames import KB, LARGE, NAMES, SMALL, batch, fetch_request, produce_request
from .local import MOST_BYTES, create
from .timing import Case

ADDRESS = ("127.0.0.1", 9092)


async def cases(stores: Stores) -> list[Case]:
    broker = Broker(stores, "micro")
    found = []
    for number, size in enumerate((SMALL, LARGE), 200):
        partition = await create(stores, number, f"requests-{number}")
        found.append(_produce(broker, partition, size))
        # Something to fetch, before anything is timed.
        for _ in range(1024 * KB // size + 1):
            await found[-1].call()
        frame = fetch_request(partition.topic_id, 1, 1024 * KB)
        what = f"Fetch of 1 MB, appends of {NAMES[size]}"
        found.append(Case("request", what, partial(_handle, broker, frame)))
    return found


def _produce(broker: Broker, partition: Partition, size: int) -> Case:
    data = batch(size)
    call: Callable[[], Coroutine[Any, Any, None]] = partial(
        _handle, broker, produce_request(partition.topic_id, data)
    )
    return Case("request", f"Produce, {NAMES[size]}", call, len(data), MOST_BYTES // size)


async def _handle(broker: Broker, frame: memoryview) -> None:
    request = read_request(frame)
    result = await answer(request, ADDRESS, broker)
    if isinstance(result, Later):
        await asyncio.wait(result.under_way)
        encode(request, result.build())
    elif isinstance(result, Held):
        encode(request, result.row)
        result.release()
    else:
        encode(request, result)
