"""An API Gateway small enough to be read: it enforces what the real one enforces on messages, and
loses, delays and cuts what a test wants lost, delayed and cut. It runs in a thread of its own.
"""

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from support.fake_function import Caller, FakeFunction, a_broker, close
from support.fake_store import a_store
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request as Handshake
from websockets.http11 import Response

from samsa_websocket.envelope import (
    EnvelopeError,
    Error,
    ErrorAction,
    Failure,
    Message,
    Ping,
    Reference,
    Reply,
    Request,
    decode,
    encode,
    read_greeting,
)

MAX_FRAME, MAX_MESSAGE = 32 * 1024, 128 * 1024
UNSUPPORTED, TOO_BIG = 1003, 1009


class Fault(Enum):
    """What becomes of one message."""

    CUT_BEFORE = auto()
    """The connection ends; the function is not called."""
    CUT_AFTER = auto()
    """The function does its work; nobody hears of it."""
    DIES = auto()
    """The function does its work and fails."""
    BUSY = auto()
    """The function says that it did nothing."""
    THROTTLED = auto()
    """API Gateway says that it did nothing."""
    CLOSES = auto()
    SILENT = auto()
    """Nobody answers."""
    NONSENSE = auto()
    STRAY = auto()
    """An answer to another request comes first."""


@dataclass
class FakeGateway:
    function: FakeFunction
    url: str = ""
    refuses: HTTPStatus | None = None
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of the handshakes."""
    targets: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    """All that came, in order."""
    frames: list[int] = field(default_factory=list)
    """Their WebSocket frames' sizes."""
    violations: list[str] = field(default_factory=list)
    faults: list[Fault | None] = field(default_factory=list)
    """For the next Kafka requests, one each."""
    delay_s: float = 0.0
    reply_delay_s: float = 0.0
    """What is pushed overtakes what is answered."""
    open: dict[int, ServerConnection] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    loop: Any = None
    server: Server | None = None

    def requests(self) -> list[Request | Reference]:
        return [each for each in self.messages if isinstance(each, Request | Reference)]

    def api_keys(self) -> list[int]:
        """Of the requests that came inline."""
        inline = [each.frame for each in self.messages if isinstance(each, Request)]
        return [int.from_bytes(frame[:2], "big") for frame in inline]

    def pings(self) -> int:
        return sum(isinstance(each, Ping) for each in self.messages)

    def run(self, work: Callable[[], Any]) -> Any:
        """In the gateway's thread."""

        async def call() -> Any:
            result = work()
            return await result if asyncio.iscoroutine(result) else result

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(20)

    def cut_all(self) -> None:
        """Every connection ends, as after two hours."""
        self.run(lambda: self._cut_all())

    async def _cut_all(self) -> None:
        await asyncio.gather(*(each.close(1001, "Going away") for each in self.open.values()))

    def go_away(self) -> None:
        """Nobody listens any more, and nobody is left."""

        async def away() -> None:
            assert self.server is not None
            self.server.close()
            await self.server.wait_closed()

        self.run(away)

    def come_back(self) -> None:
        self.run(self.listen)

    async def listen(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.server = await serve(
            self.connected,
            "127.0.0.1",
            urlsplit(self.url).port or 0,
            process_request=self.admit,
            compression=None,
            ping_interval=None,
            max_size=None,
            close_timeout=1,
        )
        port = self.server.sockets[0].getsockname()[1]
        self.url = f"ws://127.0.0.1:{port}/prod"

    def admit(self, connection: ServerConnection, handshake: Handshake) -> Response | None:
        self.headers.append(dict(handshake.headers.raw_items()))
        self.targets.append(handshake.path)
        if self.refuses is not None:
            return connection.respond(self.refuses, "no")
        try:
            read_greeting(dict(parse_qsl(urlsplit(handshake.path).query)))
        except EnvelopeError as error:
            self.violations.append(str(error))
            return connection.respond(HTTPStatus.BAD_REQUEST, str(error))
        return None

    async def connected(self, connection: ServerConnection) -> None:
        number = next(self.numbers)
        self.open[number] = connection
        assert connection.request is not None
        greeting = read_greeting(dict(parse_qsl(urlsplit(connection.request.path).query)))
        caller = Caller(greeting, lambda message: self.push(connection, message))
        running: set[asyncio.Task[None]] = set()
        try:
            while (text := await self.receive(connection)) is not None:
                if running:
                    self.violations.append("two requests were in flight on one connection")
                task = asyncio.create_task(self.invoke(connection, text, caller))
                running.add(task)
                task.add_done_callback(running.discard)
        except ConnectionClosed:
            pass
        finally:
            del self.open[number]
            caller.close()

    async def receive(self, connection: ServerConnection) -> str | None:
        """One message; None after one that API Gateway does not take."""
        found: list[str] = []
        async for part in connection.recv_streaming():
            if isinstance(part, bytes):
                await self.violated(connection, UNSUPPORTED, "a binary frame")
                return None
            self.frames.append(len(part))
            found.append(part)
            if len(part) > MAX_FRAME or sum(map(len, found)) > MAX_MESSAGE:
                await self.violated(connection, TOO_BIG, "too much at once")
                return None
        return "".join(found)

    async def violated(self, connection: ServerConnection, code: int, what: str) -> None:
        self.violations.append(what)
        await connection.close(code, what)

    async def invoke(self, connection: ServerConnection, text: str, caller: Caller) -> None:
        message = decode(text)
        self.messages.append(message)
        fault = None
        if isinstance(message, Request | Reference) and self.faults:
            fault = self.faults.pop(0)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if fault is Fault.STRAY:
            await self.push(connection, Reply(caller_seq(message) - 1, b"stray"))
        said = await self.outcome(message, caller, fault)
        if self.reply_delay_s:
            await asyncio.sleep(self.reply_delay_s)
        if said is None:
            await connection.close(1001, "Going away")
        elif said:
            with suppress(ConnectionClosed):
                await connection.send(said)

    async def outcome(self, message: Message, caller: Caller, fault: Fault | None) -> str | None:
        """What is said; None to cut the connection."""
        seq = caller_seq(message)
        instead = {
            Fault.CUT_BEFORE: None,
            Fault.SILENT: "",
            Fault.NONSENSE: "hello",
            Fault.THROTTLED: encode(Failure("Too Many Requests", "r")),
            Fault.BUSY: encode(Error(seq, ErrorAction.RETRY, "busy")),
            Fault.CLOSES: encode(Error(seq, ErrorAction.CLOSE, "go away")),
        }
        if fault in instead:
            return instead[fault]
        said = encode(await self.function.handle(message, caller))
        if len(said) > MAX_MESSAGE:
            self.violations.append("an answer of more than 128 KB")
        after = {Fault.CUT_AFTER: None, Fault.DIES: encode(Failure("Internal server error", "r"))}
        return after.get(fault, said) if fault is not None else said

    async def push(self, connection: ServerConnection, message: Message) -> None:
        with suppress(ConnectionClosed):
            await connection.send(encode(message))


def caller_seq(message: Message) -> int:
    return getattr(message, "seq", 0)


@contextmanager
def a_gateway(folder: Path) -> Iterator[FakeGateway]:
    ready: threading.Event = threading.Event()
    stop = asyncio.Event()
    made: list[FakeGateway] = []

    async def run() -> None:
        broker = await a_broker(folder)
        gateway = FakeGateway(FakeFunction(broker, store))
        await gateway.listen()
        made.append(gateway)
        ready.set()
        await stop.wait()
        assert gateway.server is not None
        gateway.server.close()
        await gateway.server.wait_closed()
        await close(broker)

    with a_store() as store:
        thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
        thread.start()
        assert ready.wait(20)
        try:
            yield made[0]
        finally:
            made[0].loop.call_soon_threadsafe(stop.set)
            thread.join(20)
        assert not thread.is_alive(), "a WebSocket was left open"
    assert not made[0].violations, made[0].violations
