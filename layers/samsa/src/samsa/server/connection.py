"""One client connection.

Requests are taken one after the other, and answered in that order. Produce requests may overlap:
each is queued in the log before the next is looked at, and only its answer is still under way. So a
client that pipelines gets one slot for many requests, and order in the log is order of requests.

Back-pressure goes both ways. A client that does not read its answers stops being read from; a
store that is slow leaves the buffer full, and then the socket's.
"""

import asyncio
import logging
import socket
from typing import TYPE_CHECKING, Any

from samsa.handlers.broker import Answer, Later
from samsa.handlers.dispatch import answer, encode
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError
from samsa.wire.frame import Request, read_request

from .buffer import SMALL, ReceiveBuffer
from .logs import event
from .sender import Sender

if TYPE_CHECKING:
    from .listener import Server

log = logging.getLogger("samsa.server")
MOST_UNDER_WAY = 64


class Connection:
    def __init__(self, sock: socket.socket, peer: str, server: "Server") -> None:
        self.peer = peer
        self.last_active = 0.0
        self._socket = sock
        self._fd = sock.fileno()
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._buffer = ReceiveBuffer(server.limits.max_frame_bytes)
        self._sender = Sender(sock)
        self._reading = False
        self._ended = False
        self._waiter: asyncio.Future[None] | None = None
        self._tail: asyncio.Task[None] | None = None
        self._under_way = 0
        self._task: asyncio.Task[None] | None = None
        self._charged = 0
        self._address = server.advertised(sock)

    def start(self) -> None:
        self.last_active = self._loop.time()
        self._read_on()
        self._task = self._loop.create_task(self._serve())

    @property
    def ended(self) -> "asyncio.Task[None]":
        assert self._task is not None
        return self._task

    # Bytes in

    def _read_on(self) -> None:
        if not self._reading and not self._ended:
            self._reading = True
            self._loop.add_reader(self._fd, self._readable)

    def _read_no_more(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._fd)

    def _readable(self) -> None:
        room = self._buffer.room()
        if not len(room):
            self._read_no_more()
            return
        try:
            count = self._socket.recv_into(room)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            count = 0
        if count == 0:
            self._ended = True
            self._read_no_more()
        self._buffer.filled(count)
        self._server.stats.bytes_in += count
        self._wake()
        if self._ended and self._task is not None and self._under_way == 0:
            # A parked request has nobody left to answer.
            self._task.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _more(self) -> None:
        self._waiter = self._loop.create_future()
        await self._waiter

    async def _next_frame(self) -> memoryview | None:
        """The next whole frame; None when the client has gone or the server closes."""
        while True:
            frame = self._buffer.take()
            if frame is not None:
                return frame
            if self._ended or self._server.closing:
                return None
            await self._make_room()
            self._read_on()
            await self._more()

    async def _make_room(self) -> None:
        """Before reading on: room in the buffer, and a larger one if the frame announces it."""
        wanted = self._buffer.wanted()
        if not wanted and len(self._buffer.room()):
            return
        await self._all_answered()
        while self._buffer.leases:
            await self._more()
        if wanted:
            self._read_no_more()
            await self._resize(wanted)
        else:
            self._buffer.make_room()

    async def _resize(self, capacity: int) -> None:
        """Nothing is held while waiting for more, so that two who wait cannot block each other."""
        if capacity < self._buffer.capacity:
            self._buffer.replace(capacity)
        self._server.budget.release(self._charged)
        self._charged = 0
        await self._server.budget.acquire(capacity)
        self._charged = capacity
        self._buffer.replace(capacity)

    def give_back(self) -> None:
        """Called while idle: let others have the memory of a large buffer."""
        if self._charged and self._buffer.idle and self._under_way == 0:
            self._buffer.replace(SMALL)
            self._server.budget.release(self._charged)
            self._charged = 0

    # Requests

    async def _serve(self) -> None:
        try:
            while (frame := await self._next_frame()) is not None:
                self.last_active = self._loop.time()
                await self._handle(frame)
                del frame
                if self._server.budget.contended:
                    self.give_back()
            await self._all_answered()
        except DecodeError as error:
            event(log, logging.WARNING, "bad request", peer=self.peer, why=str(error))
        except (OSError, asyncio.CancelledError):
            pass  # the client has gone, or the server closes
        except Exception:
            log.exception("request failed peer=%s", self.peer)
        finally:
            self._close()

    async def _handle(self, frame: memoryview) -> None:
        request = read_request(frame)
        self._server.stats.requests[request.api_key] += 1
        if request.api_key != ApiKey.PRODUCE or self._under_way >= MOST_UNDER_WAY:
            await self._all_answered()
        result = await answer(request, self._address, self._server.broker)
        if isinstance(result, Later):
            self._under_way += 1
            self._tail = self._loop.create_task(self._answer_later(request, result, self._tail))
            return
        try:
            await self._send(request, result)
        finally:
            self._buffer.release()

    async def _answer_later(
        self, request: Request, later: Later, before: "asyncio.Task[None] | None"
    ) -> None:
        try:
            row = await later.reply
            if before is not None and not before.done():
                await asyncio.wait([before])
            await self._send(request, row)
        except OSError:
            self._abort()
        except Exception:
            log.exception("%s failed peer=%s", APIS[request.api_key].name, self.peer)
            self._abort()
        finally:
            self._under_way -= 1
            self._release_when_done(later)

    def _release_when_done(self, later: Later) -> None:
        left = [future for future in later.under_way if not future.done()]
        if not left:
            self._buffer.release()
            self._wake()
            return

        def one_done(_: Any) -> None:
            if all(future.done() for future in left):
                self._buffer.release()
                self._wake()

        for future in left:
            future.add_done_callback(one_done)

    async def _all_answered(self) -> None:
        if self._tail is not None and not self._tail.done():
            await asyncio.wait([self._tail])
        self._tail = None

    async def _send(self, request: Request, row: Answer) -> None:
        if row is None:
            return
        before = self._sender.sent
        await self._sender.send(encode(request, row))
        self._server.stats.bytes_out += self._sender.sent - before

    # The end

    @property
    def busy(self) -> bool:
        return self._under_way > 0 or self._buffer.leases > 0

    def finish(self) -> None:
        """Take no further request; what is under way is still answered."""
        self._read_no_more()
        if self._under_way == 0 and self._task is not None:
            self._task.cancel()
        else:
            self._wake()

    def _abort(self) -> None:
        self._ended = True
        if self._task is not None:
            self._task.cancel()

    def _close(self) -> None:
        self._ended = True
        self._read_no_more()
        self._socket.close()
        self._server.budget.release(self._charged)
        self._charged = 0
        self._server.gone(self)
