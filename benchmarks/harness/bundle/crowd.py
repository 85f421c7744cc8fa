"""Producers that wait for each acknowledgement before the next message, on raw connections."""

import asyncio
import struct
import time

from samsa.records import Record, build
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_response, request_frame
from samsa.wire.messages import produce

VERSION = 9
MESSAGE_BYTES = 1024
PATIENCE_MS = 30_000


class NotAcknowledged(Exception):
    pass


def frame(topic: str) -> bytes:
    """A produce of one message to partition 0."""
    value = bytes(MESSAGE_BYTES)
    data = build([Record(0, time.time_ns() // 1_000_000, None, value)])
    entry = produce.PARTITION(index=0, records=data)
    named = produce.TOPIC(name=topic, partition_data=[entry])
    row = produce.REQUEST(acks=-1, timeout_ms=PATIENCE_MS, topic_data=[named])
    return request_frame(APIS[ApiKey.PRODUCE], VERSION, 1, "crowd", row)


def check(answer: bytes) -> None:
    _, row = read_response(APIS[ApiKey.PRODUCE], VERSION, memoryview(answer))
    code = row.responses[0].partition_responses[0].error_code
    if code:
        raise NotAcknowledged(f"error {code}")


class Producer:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def at(cls, address: str) -> "Producer":
        host, _, port = address.rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def produce(self, request: bytes) -> float:
        """Seconds until it was acknowledged."""
        began = time.perf_counter()
        self._writer.write(request)
        (size,) = struct.unpack(">i", await self._reader.readexactly(4))
        answer = await self._reader.readexactly(size)
        took = time.perf_counter() - began
        check(answer)
        return took

    def close(self) -> None:
        self._writer.close()


async def per_second(address: str, topic: str, producers: int, seconds: float) -> float:
    """Messages that so many producers have acknowledged, all together, in a second."""
    request = frame(topic)
    crowd = [await Producer.at(address) for _ in range(producers)]
    try:
        return await _together(crowd, request, seconds) / seconds
    finally:
        for each in crowd:
            each.close()


async def _together(crowd: "list[Producer]", request: bytes, seconds: float) -> int:
    ends = time.perf_counter() + seconds
    return sum(await asyncio.gather(*(_until(ends, each, request) for each in crowd)))


async def _until(ends: float, producer: Producer, request: bytes) -> int:
    done = 0
    while time.perf_counter() < ends:
        await producer.produce(request)
        done += time.perf_counter() < ends
    return done


async def latencies(address: str, topic: str, count: int) -> list[float]:
    """Milliseconds of each of so many produces, one after the other."""
    request, producer = frame(topic), await Producer.at(address)
    try:
        return [1000 * await producer.produce(request) for _ in range(count)]
    finally:
        producer.close()
