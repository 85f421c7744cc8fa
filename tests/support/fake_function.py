"""What the gateway function promises, by a broker in the same process: docs/envelope.md as code.

It keeps things in memory that a real function has in the ledger, and so is much shorter.
"""

import asyncio
import base64
import hashlib
import itertools
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.fake_store import CONTENT_TYPE, FakeStore

from samsa.aws.presign import byte_range
from samsa.broker.answer_rows import row_of
from samsa.broker.broker import HANDLERS, Broker, Context
from samsa.dispatch import answer, encode
from samsa.local.folder import FolderObjects
from samsa.local.journal import SqliteJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Stores
from samsa.ports import FileRange, Partition
from samsa.records.batch import shift_offsets
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError
from samsa.wire.frame import KafkaRequest, read_request
from samsa_websocket import envelope

WAITS = {ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP}
INLINE_PIECE = 4096
PATIENCE_S = 0.05
Push = Callable[[envelope.Message], Awaitable[None]]


class Clock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


async def a_broker(folder: Path) -> Broker:
    ledger = SqliteLedger(str(folder / "ledger.db"), False)
    objects = FolderObjects(str(folder / "objects"), False)
    numbers = itertools.count()
    journal = SqliteJournal(ledger, objects.root, "fake", False)
    stores = Stores(
        ledger,
        objects,
        journal,
        Clock(),
        LocalWakeups(),
        lambda: f"n{os.getpid():x}x{next(numbers):x}",
    )
    cluster = await ledger.cluster_id(base64.urlsafe_b64encode(uuid.uuid4().bytes).decode())
    groups = SqliteGroups(str(folder / "ledger.db"), False)
    return Broker(stores, cluster, groups=groups)


async def close(broker: Broker) -> None:
    stores = broker.stores
    assert broker.groups is not None
    await broker.log.drain()
    await broker.groups.close()
    await stores.journal.close()
    await stores.objects.close()
    await stores.ledger.close()


@dataclass(eq=False)
class Caller:
    """One WebSocket, as the function knows it."""

    greeting: envelope.Greeting
    push: Push
    joins: dict[int, "asyncio.Task[list[Any]]"] = field(default_factory=dict)
    watching: set["asyncio.Task[None]"] = field(default_factory=set)

    def close(self) -> None:
        for task in (*self.joins.values(), *self.watching):
            task.cancel()


@dataclass
class FakeFunction:
    broker: Broker
    store: FakeStore
    good_ms: int = 30_000
    lists_everything: bool = False
    """Answers every fetch by a gather list, however small."""
    guessed_low_by: int = 0
    """How many offsets too low the writers of all objects guessed."""
    part_bytes: int = 2 * 1024 * 1024
    """Longer ranges are several pieces."""
    frame_bytes: int = 0
    """Kafka bytes that passed through the function inline."""

    async def handle(self, message: envelope.Message, caller: Caller) -> envelope.Message:
        if isinstance(message, envelope.Ping):
            return envelope.Ping()
        if isinstance(message, envelope.Upload):
            key = self.store.new_key()
            return envelope.Ticket(message.seq, key, self.store.url("PUT", key), (CONTENT_TYPE,))
        if isinstance(message, envelope.Reference):
            frame = self.store.objects[message.key]
            assert hashlib.sha256(frame).hexdigest() == message.sha256
            message = envelope.Request(message.seq, frame, message.waited_ms, message.several)
        assert isinstance(message, envelope.Request)
        try:
            if message.several:
                return await self.several(message, caller)
            return await self.answer(message, caller)
        except DecodeError as error:
            return envelope.Error(message.seq, envelope.ErrorAction.CLOSE, str(error))

    async def answer(self, message: envelope.Request, caller: Caller) -> envelope.Message:
        request = read_request(memoryview(bytearray(message.frame)))
        if request.api_key == ApiKey.FETCH:
            return await self.fetch(message, request, caller)
        if request.api_key in WAITS:
            return await self.join(message, request, caller)
        return self.reply(message.seq, await self.segments(request, caller))

    async def several(self, message: envelope.Request, caller: Caller) -> envelope.Message:
        requests = [read_request(each) for each in envelope.apart(bytearray(message.frame))]
        assert {each.api_key for each in requests} == {ApiKey.PRODUCE}
        found = [await self.segments(each, caller) for each in requests]
        frame = b"".join(segment for segments in found for segment in segments)
        return envelope.Reply(message.seq, frame, several=True)

    async def segments(self, request: KafkaRequest, caller: Caller) -> list[Any]:
        host = f"/{caller.greeting.client}"
        given = await answer(request, caller.greeting.address, self.broker, host)
        async with row_of(given) as row:
            return encode(request, row) if row is not None else []

    # Parking

    async def fetch(
        self, message: envelope.Request, request: KafkaRequest, caller: Caller
    ) -> envelope.Message:
        table = APIS[ApiKey.FETCH].request
        asked = table.decode(request.api_version, request.body, exact=False)
        left = asked.max_wait_ms - message.waited_ms
        names = await self.watch(asked, caller) if left > 0 else {}
        asked.max_wait_ms = 0
        context = Context(request.api_version, request.client_id, caller.greeting.address)
        async with row_of(await HANDLERS[ApiKey.FETCH](asked, context, self.broker)) as row:
            segments = encode(request, row)
        entries = [entry for topic in row.responses for entry in topic.partitions]
        size = sum(len(piece) for entry in entries for piece in entry.records or [])
        failed = row.error_code or any(entry.error_code for entry in entries)
        if failed or size >= asked.min_bytes or left <= 0 or not names:
            return self.reply(message.seq, segments)
        if size:
            return envelope.ParkedReply(message.seq, left, tuple(names))
        return envelope.ParkedReply(
            message.seq, left, tuple(names), joined(segments)[4:], self.good_ms
        )

    async def watch(self, asked: Any, caller: Caller) -> dict[str, Partition]:
        names: dict[str, Partition] = {}
        for topic in asked.topics:
            found = await (
                self.broker.catalog.named(topic.topic)
                if topic.topic
                else self.broker.catalog.with_id(topic.topic_id)
            )
            if found is None:
                continue
            for entry in topic.partitions:
                partition = Partition(found.id, entry.partition)
                names[str(partition)] = partition
        waiter = self.broker.stores.wakeups.subscribe(names.values())
        waiter.__enter__()
        task = asyncio.create_task(self.wake(waiter, tuple(names), caller))
        caller.watching.add(task)
        task.add_done_callback(caller.watching.discard)
        return names

    async def wake(self, waiter: Any, names: tuple[str, ...], caller: Caller) -> None:
        try:
            if await waiter.wait(self.good_ms):
                await caller.push(envelope.Wake(names))
        finally:
            waiter.__exit__(None, None, None)

    async def join(
        self, message: envelope.Request, request: KafkaRequest, caller: Caller
    ) -> envelope.Message:
        task = caller.joins.get(message.seq)
        if task is None:
            task = asyncio.create_task(self.segments(request, caller))
            caller.joins[message.seq] = task
        done, _ = await asyncio.wait((task,), timeout=PATIENCE_S)
        if done:
            del caller.joins[message.seq]
            return self.reply(message.seq, task.result())
        name = f"join/{message.seq}"
        call = asyncio.create_task(self.wake_when(task, name, caller))
        caller.watching.add(call)
        call.add_done_callback(caller.watching.discard)
        return envelope.ParkedReply(message.seq, 5_000, (name,))

    async def wake_when(self, task: "asyncio.Task[Any]", name: str, caller: Caller) -> None:
        await asyncio.wait((task,))
        await caller.push(envelope.Wake((name,)))

    # Answers

    def reply(self, seq: int, segments: list[Any]) -> envelope.Message:
        size = sum(map(len, segments)) - 4
        if size <= envelope.LARGEST_INLINE and not (self.lists_everything and size > 100):
            self.frame_bytes += max(size, 0)
            return envelope.Reply(seq, joined(segments)[4:])
        first, *rest = segments
        pieces = [piece for each in (bytes(first)[4:], *rest) for piece in self.pieces(each)]
        return envelope.Gather(seq, tuple(pieces))

    def pieces(self, segment: Any) -> Iterator[bytes | envelope.UrlRange]:
        data = plain(segment)
        if len(data) <= (0 if self.lists_everything else INLINE_PIECE):
            yield data
            return
        shift = self.guessed_low_by if len(data) > INLINE_PIECE else 0
        stored = shift_offsets(data, -shift) if shift else data
        # As if it were in the middle of a larger object.
        key = self.store.keep(b"before" + stored + b"after")
        for at in range(0, len(data), self.part_bytes):
            start, length = len(b"before") + at, min(self.part_bytes, len(data) - at)
            url = self.store.url("GET", key, byte_range(start, length))
            yield envelope.UrlRange(url, start, length, shift)


def joined(segments: list[Any]) -> bytes:
    return b"".join(plain(segment) for segment in segments)


def plain(segment: Any) -> bytes:
    return segment.read() if isinstance(segment, FileRange) else bytes(segment)
