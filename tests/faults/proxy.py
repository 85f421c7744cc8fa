"""A proxy in front of an HTTP server that does to requests what networks and clouds do to them.

It runs on a thread of its own and passes messages on byte by byte as they came, `Host` included:
requests to S3 are signed with it.
"""

import asyncio
import socket
import struct
import threading
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from faults.messages import Message, read_answer, read_request
from faults.weather import Card, Fault, Weather

LARGEST_HEAD = 1 << 20
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
ERRORS = {
    Fault.ERROR_500: b"500 Internal Server Error",
    Fault.ERROR_503: b"503 Service Unavailable",
    Fault.ERROR_AFTER: b"500 Internal Server Error",
}
NOT_FORWARDED = (Fault.ERROR_500, Fault.ERROR_503, Fault.RESET, Fault.SILENCE, Fault.LATE)
GIVES_NO_ANSWER = (
    Fault.RESET,
    Fault.RESET_AFTER,
    Fault.SILENCE,
    Fault.SILENCE_AFTER,
    Fault.LATE,
)


def nothing() -> None:
    pass


class FaultyProxy:
    def __init__(self, upstream: str, weather: Weather, silence_s: float) -> None:
        self.weather = weather
        self.met: Counter[Fault] = Counter()
        """How many requests met each fault, in bad weather."""
        self.late: list[Message] = []
        """Answers that nobody waited for any more: their requests were passed on late."""
        self.when_silent: Callable[[], None] = nothing
        """Called when a client begins to wait for an answer that will not come."""
        self.holds_late = False
        """While it is set, late requests are not passed on."""
        self.url = ""
        self._serving: set[asyncio.Task[None] | None] = set()
        """Once a client is gone, asyncio keeps no hold of who forwards its request late."""
        self.silence_s = silence_s
        where = urlsplit(upstream)
        self.upstream = (where.hostname, where.port)

    @property
    def faulty(self) -> float:
        """The part of those requests that met a fault at all."""
        return 1 - self.met[Fault.NONE] / max(1, self.met.total())

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        exchange = Exchange(reader, writer, self)
        task = asyncio.current_task()
        self._serving.add(task)
        try:
            while not exchange.is_over:
                request = await read_request(reader, writer)
                card = self.weather.draw_for(request)
                self.met[card.fault] += not self.weather.is_fair
                await exchange.answer(request, card)
        except (OSError, asyncio.IncompleteReadError):
            pass  # whoever goes away in the middle, the other end sees its own connection end
        finally:
            exchange.close()
            self._serving.discard(task)


class Exchange:
    """One client connection, and its own connection to the server behind."""

    def __init__(self, reader: StreamReader, writer: StreamWriter, proxy: FaultyProxy) -> None:
        self.is_over = False
        self._proxy = proxy
        self._reader = reader
        self._writer = writer
        self._upstream: tuple[StreamReader, StreamWriter] | None = None

    async def answer(self, request: Message, card: Card) -> None:
        if card.fault is Fault.SLOW:
            await asyncio.sleep(card.delay_s)
        answer = None if card.fault in NOT_FORWARDED else await self._forward(request)
        if card.fault in ERRORS:
            await self._send(request, error(ERRORS[card.fault], request))
        elif card.fault is Fault.CUT and answer is not None:
            self._send_part(answer, card.part)
        elif card.fault in GIVES_NO_ANSWER:
            await self._cut_off(request, card)
        elif answer is not None:
            await self._send(request, answer)

    async def _cut_off(self, request: Message, card: Card) -> None:
        if card.fault not in (Fault.RESET, Fault.RESET_AFTER):
            await self._stay_silent()
        if card.fault is Fault.LATE:
            await asyncio.sleep(card.delay_s)
            while self._proxy.holds_late:  # noqa: ASYNC110  (set by another thread)
                await asyncio.sleep(0.01)
            self._proxy.late.append(await self._forward(request))
        self._reset()

    async def _forward(self, request: Message) -> Message:
        if self._upstream is None or self._upstream[0].at_eof():
            self._upstream = await asyncio.open_connection(
                *self._proxy.upstream, limit=LARGEST_HEAD
            )
        reader, writer = self._upstream
        writer.write(request.data)
        answer = await read_answer(reader, request.method)
        if answer.is_last:
            writer.close()
            self._upstream = None
        return answer

    async def _send(self, request: Message, answer: Message) -> None:
        self._writer.write(answer.data)
        await self._writer.drain()
        self.is_over = request.is_last or answer.is_last

    def _send_part(self, answer: Message, part: float) -> None:
        """At least a byte of it, never all."""
        data = answer.data
        self._writer.write(data[: max(1, int(len(data) * part))])
        self.is_over = True

    async def _stay_silent(self) -> None:
        """Until the client loses patience, or we do."""
        self._proxy.when_silent()
        with suppress(TimeoutError, ConnectionResetError):
            await asyncio.wait_for(self._reader.read(), self._proxy.silence_s)

    def _reset(self) -> None:
        client: socket.socket = self._writer.get_extra_info("socket")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self._writer.transport.abort()
        self.is_over = True

    def close(self) -> None:
        self._writer.close()
        if self._upstream is not None:
            self._upstream[1].close()


def error(status: bytes, request: Message) -> Message:
    """As a load balancer answers, which knows nothing of the protocol behind it."""
    body = b"" if request.method == "HEAD" else b"<html>not now</html>"
    head = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
    return Message(head % (status, len(body)), body, False)


@contextmanager
def faulty_proxy(upstream: str, weather: Weather, silence_s: float = 20.0) -> Iterator[FaultyProxy]:
    proxy = FaultyProxy(upstream, weather, silence_s)
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(
        asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=LARGEST_HEAD)
    )
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    thread = threading.Thread(target=loop.run_forever, name="faulty proxy")
    thread.start()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(end(server))
        loop.close()


async def end(server: asyncio.Server) -> None:
    server.close()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
