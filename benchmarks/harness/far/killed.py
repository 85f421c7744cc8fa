"""A writer that is killed between its put and what follows: how long others' records are hidden.

Two `samsa up` on the same stores. The proxy stores the first one's object and does not answer; then
that process is killed. The other one appends, and from its acknowledgement on a reader asks for
what was acknowledged, again and again.
"""

import asyncio
import time
from pathlib import Path
from typing import Any

from harness.brokers import Samsa
from harness.groups.connection import Connection
from harness.process import ToolFailed
from samsa.records import Record, build
from samsa.wire.apis import ApiKey
from samsa.wire.messages import fetch, metadata, produce

from .sides import Place, Side, a_broker, a_place

PRODUCE, FETCH, METADATA = 9, 12, 9
TOPIC = "killed"
SMALL, LARGE = 1_000, 100_000
MOST_BYTES = 1_000_000
LOOK_EVERY_S = 0.005
PATIENCE_S = 120.0


def hidden_ms(side: Side, folder: Path) -> float:
    """From an acknowledgement to the last fetch that did not show the record; 0 without any."""
    with (
        a_place(folder / "stores", side.endpoints) as place,
        a_broker(side.side, side.tree, folder / "killed", place) as killed,
        a_broker(side.side, side.tree, folder / "other", place) as other,
    ):
        return asyncio.run(_hidden_ms(killed, other, place))


async def _hidden_ms(killed: Samsa, other: Samsa, place: Place) -> float:
    first, second = [await Connection.open("127.0.0.1", each.port) for each in (killed, other)]
    await second.ask(ApiKey.METADATA, METADATA, _metadata())  # makes the topic
    for warm in (first, second):
        await _append(warm, SMALL)
    place.hold.touch()
    place.calls.skip()
    lost = asyncio.ensure_future(_append(first, LARGE))
    await _until_put(place)
    _kill(killed)
    await asyncio.wait([lost])
    if lost.exception() is None:
        raise ToolFailed("the writer was answered before it was killed")
    place.hold.unlink()
    offset = await _append(second, SMALL)
    return await _until_shown(second, offset, time.monotonic())


def _kill(broker: Samsa) -> None:
    assert broker.process is not None
    broker.process.kill()
    broker.process.wait()
    broker.process = None


async def _until_put(place: Place) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not any(call.what == "PUT" for call in place.calls.more()):
        if time.monotonic() > ends:
            raise ToolFailed("the writer put nothing")
        await asyncio.sleep(LOOK_EVERY_S)


async def _append(connection: Connection, size: int) -> int:
    """Its offset."""
    data = build([Record(0, time.time_ns() // 1_000_000, None, bytes(size))])
    entry = produce.PARTITION(index=0, records=data)
    named = produce.TOPIC(name=TOPIC, partition_data=[entry])
    row = produce.REQUEST(acks=-1, timeout_ms=int(1000 * PATIENCE_S), topic_data=[named])
    answer = (await connection.ask(ApiKey.PRODUCE, PRODUCE, row)).responses[0]
    done = answer.partition_responses[0]
    if done.error_code:
        raise ToolFailed(f"not acknowledged: error {done.error_code}")
    return int(done.base_offset)


async def _until_shown(connection: Connection, offset: int, acked: float) -> float:
    hidden = 0.0
    while (asked := time.monotonic()) < acked + PATIENCE_S:
        row = await connection.ask(ApiKey.FETCH, FETCH, _fetch(offset))
        if row.responses[0].partitions[0].records:
            return hidden
        hidden = 1000 * (asked - acked)
        await asyncio.sleep(LOOK_EVERY_S)
    raise ToolFailed(f"an acknowledged record stayed hidden for {PATIENCE_S:.0f} s")


def _metadata() -> Any:
    return metadata.REQUEST(topics=[metadata.TOPIC(name=TOPIC)], allow_auto_topic_creation=True)


def _fetch(offset: int) -> Any:
    wanted = fetch.PARTITION(partition=0, fetch_offset=offset, partition_max_bytes=MOST_BYTES)
    named = fetch.TOPIC(topic=TOPIC, partitions=[wanted])
    return fetch.REQUEST(max_wait_ms=0, min_bytes=1, topics=[named])
