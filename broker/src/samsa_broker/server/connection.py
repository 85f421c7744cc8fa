"""One client connection.

Requests are taken one after the other, and answered in that order. Produce requests may overlap:
each is queued in the log before the next is looked at, and only its answer is still under way. So a
client that pipelines gets one commit for many requests, and order in the log is order of requests.

A request is handled as soon as it is read from the socket, until it has to wait
(`eager_task.py`). Then the connection's task finishes it, and reads on afterwards.

Back-pressure works in both directions. If a client does not read its answers, nothing more is read
from it. If a store is slow, the receive buffer fills up, and then the socket's buffer.

         ┌──────────────────────────── answered ─────────────────────────────┐
         ▼                                                                   │
    AWAKE or RESTING ──a frame──► HANDLING or PARKED ──the answer holds memory──► SENDING
         │  ▲
         ▼  │
       GROWING, when the buffer is full             CLOSED, from any of them

A client over a quota is MUTED after its answer: its next request is not looked at, and nothing is
read from its socket, until its time is up (`muted.py`).
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from enum import Enum, auto
from time import perf_counter
from typing import TYPE_CHECKING

from samsa.broker.broker import Answer, Held, Later
from samsa.client_requests import HEARTBEATS, MAY_PARK, OVERLAP
from samsa.eager_task import Rest, begin
from samsa.ports import Unavailable
from samsa.runtime.logs import event
from samsa.security.principals import ANONYMOUS
from samsa.security.quotas import REQUEST_PERCENTAGE
from samsa.wire.errors import DecodeError
from samsa.wire.frame import KafkaRequest, read_request

from .answers import Answers
from .buffer import COPIED
from .listeners import PLAIN, Listener
from .progress import ClientProgress
from .replies import PendingReplies, PendingReply
from .request_quotas import RequestQuotas
from .request_room import RequestRoom
from .sender import Sender
from .socket_reader import SocketReader
from .tls_socket import TlsReader, TlsSender

if TYPE_CHECKING:
    from .listener import Server

log = logging.getLogger("samsa.server")
MOST_UNDER_WAY = 64


class Phase(Enum):
    AWAKE = auto()
    """The task looks for the next request, or is about to go on."""
    RESTING = auto()
    """The task waits for a request, and `readable` may begin one."""
    HANDLING = auto()
    """A request is handled. It is finished even if the client has gone: clients leave their group
    and commit just before they close."""
    PARKED = auto()
    """The same, but it may be cancelled when the client has gone."""
    SENDING = auto()
    """An answer that holds memory is being sent."""
    GROWING = auto()
    """The buffer is full: it waits for answers to be sent, or for memory."""
    MUTED = auto()
    """The client is over a quota. The task waits until its time is up."""
    CLOSED = auto()


# Bound once: to look a member up in its class takes as long as some steps of a request.
AWAKE, RESTING, HANDLING, PARKED, SENDING, GROWING, MUTED, CLOSED = Phase


class Connection:
    def __init__(
        self, sock: socket.socket, peer: str, server: "Server", listener: Listener = PLAIN
    ) -> None:
        self.peer = peer
        self.host = peer.rpartition(":")[0]
        self.listener = listener
        self._socket = sock
        self._server = server
        self._broker = server.broker
        self._loop = asyncio.get_running_loop()
        self._requests = server.requests_of(sock, peer, listener)
        self._reader, self._sender = _ends(sock, self.readable, self.abort, server)
        self._buffer = self._reader.buffer
        self._quotas = RequestQuotas(self._requests, server.stats, self._mute)
        self._is_muted = False
        self._began_s = 0.0
        """When the last request began; 0 while latencies are not counted."""
        self._room = RequestRoom(self._buffer, server)
        self._answers = Answers(self._sender, server)
        self._replies = PendingReplies(self._send_ready, self._memory_free)
        self._progress = ClientProgress(self._reader, self._sender, server.limits)
        self._phase = AWAKE
        self._task: asyncio.Task[None] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._begun: Rest | None = None
        """The rest of a request that `readable` has begun, for the task."""
        self._failed: Exception | None = None
        """What a request has raised that `readable` has begun, for the task."""

    def start(self) -> None:
        self._progress.last_active = self._loop.time()
        self._task = self._loop.create_task(self._serve())

    @property
    def ended(self) -> "asyncio.Task[None]":
        assert self._task is not None
        return self._task

    def has_logged_in(self) -> bool:
        """By SASL. From then on it has a principal of its own, for ever."""
        return self._requests.access.principal is not ANONYMOUS

    @property
    def has_produced(self) -> bool:
        return self._requests.has_produced

    @property
    def last_active(self) -> float:
        return self._progress.last_active

    # Requests: begun by the event loop when bytes come, finished by the task

    def readable(self) -> None:
        if self._reader.receive():
            if self._phase is RESTING:
                self._begin_requests()
            self._stop_if_gone()

    def _begin_requests(self) -> None:
        """Handle the frames that were read, until one has to wait."""
        reader = self._reader
        try:
            while not (reader.ended or self._is_muted):
                frame = self._buffer.take()
                if frame is None:
                    break
                self._progress.last_active = self._loop.time()
                if not self._handle_alike(frame):
                    self._begun = begin(self._handle(frame))
                del frame
                if self._begun is not None:
                    break
                self._phase = RESTING
        except Exception as error:
            self._failed = error
        is_to_wake = reader.ended or self._is_muted or self._buffer.is_full
        if self._begun or self._failed or is_to_wake:
            self._wake()
        elif self._server.memory.contended:
            self.give_back()

    async def _serve(self) -> None:
        try:
            while (frame := await self._next_frame()) is not None:
                self._progress.last_active = self._loop.time()
                await self._handle(frame)
                self._phase = AWAKE
                del frame
                if self._server.memory.contended:
                    self.give_back()
            await self._replies.all_sent()
            await self._sender.drained()
        except DecodeError as error:
            self._server.bad_requests.happened(peer=self.peer, why=str(error))
            await self._replies.all_sent()
            await self._sender.drained()
        except Unavailable as error:
            # The response has no field for an error; a client asks again on a new connection.
            event(log, logging.WARNING, "store unavailable", peer=self.peer, why=str(error))
        except (OSError, asyncio.CancelledError):
            pass  # the client has gone, or the server closes
        except Exception:
            log.exception("request failed peer=%s", self.peer)
        finally:
            self._close()

    async def _next_frame(self) -> memoryview | None:
        """The next whole frame; None when the client has gone or the server closes."""
        while True:
            if self._is_muted:
                await self._unmuted()
                if self._server.closing:
                    return None
            frame = self._buffer.take()
            if frame is not None:
                return frame
            if self._reader.ended or self._server.closing:
                return None
            if self._buffer.is_full:
                await self._make_room()
            self._reader.watch()
            await self._rest()

    async def _rest(self) -> None:
        """Wait for `_wake`, then finish the request that `readable` has begun, if there is one."""
        self._phase = RESTING
        try:
            await self._woken()
        except asyncio.CancelledError:
            if self._begun is not None:
                self._begun.cancel()
                await self._begun
            raise
        if self._failed is not None:
            raise self._failed
        if self._begun is not None:
            begun, self._begun = self._begun, None
            await begun
            self._phase = AWAKE

    async def _make_room(self) -> None:
        """Before reading on: make room in the buffer, or grow it if it has to be larger."""
        if not self._buffer.wanted():
            return
        self._phase = GROWING
        self._reader.unwatch()
        await self._replies.all_sent()
        while self._buffer.leases:
            await self._woken()
        await self._room.make()
        self._phase = AWAKE
        self._progress.last_active = self._loop.time()

    async def _unmuted(self) -> None:
        """Wait until the time is up. Memory that is not needed meanwhile is given back."""
        self._phase = MUTED
        self._reader.unwatch()
        while self._is_muted and not self._server.closing:
            if self._room.size and not self._buffer.leases and self._buffer.unread <= COPIED:
                self._room.shrink()
            await self._woken()
        self._phase = AWAKE
        self._progress.last_active = self._loop.time()

    async def _woken(self) -> None:
        self._waiter = self._loop.create_future()
        await self._waiter

    def _wake(self) -> None:
        if self._phase is RESTING:
            self._phase = AWAKE
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # One request

    def _handle_alike(self, frame: memoryview) -> bool:
        """Handle a produce that is like an earlier one. False if it has to be handled as usual."""
        if len(self._replies) >= MOST_UNDER_WAY or not self._sender.empty:
            return False
        throttling = self._broker.throttling
        if throttling is not None and throttling.limits(REQUEST_PERCENTAGE):
            return False
        begun = self._requests.begin_alike(frame)
        if begun is None:
            return False
        request, later = begun
        self._count(request)
        if throttling is not None and (throttle := self._requests.throttle(request)) is not None:
            self._quotas.count_produce(later, throttle, len(frame))
        self._replies.add(request, later, self._began_s)
        return True

    async def _handle(self, frame: memoryview) -> None:
        request = read_request(frame)
        self._phase = PARKED if request.api_key in MAY_PARK else HANDLING
        self._count(request)
        if request.api_key not in OVERLAP or len(self._replies) >= MOST_UNDER_WAY:
            await self._replies.all_sent()
        if not self._sender.empty:
            await self._sender.drained()
        if self._broker.throttling is None:
            await self._finish(request, await self._requests.answer(request))
        else:
            answer = await self._quotas.answer(request, len(frame))
            await self._quotas.finish(request, self._finish(request, answer))

    def _count(self, request: KafkaRequest) -> None:
        stats = self._server.stats
        stats.requests[request.api_key] += 1
        if stats.latencies is not None:
            self._began_s = perf_counter()
        if request.api_key in HEARTBEATS:
            self._reader.count_heartbeat(self._progress.last_active)
        else:
            self._reader.forget_heartbeats()

    async def _finish(self, request: KafkaRequest, answer: Answer) -> None:
        """Send the answer, and free the request's memory. A Later does both when it is ready."""
        if isinstance(answer, Later):
            self._requests.learn(request, answer)
            self._replies.add(request, answer, self._began_s)
            return
        if isinstance(answer, Held):
            self._phase = SENDING
            await self._answers.send_held(request, answer)
        elif not self._answers.send(request, answer):
            await self._answers.send_long(request, answer)
        if self._began_s:
            self._server.stats.note_answer(request, self._began_s)
        self._buffer.release()

    def _send_ready(self, ready: list[PendingReply]) -> None:
        try:
            self._answers.send_ready(ready)
            if self._began_s:
                self._server.stats.note_produces(ready)
        except Exception:
            log.exception("produce failed peer=%s", self.peer)
            self.abort()

    def _memory_free(self) -> None:
        self._buffer.release()
        if self._phase is GROWING or self._phase is MUTED:
            self._wake()

    # Quotas

    def _mute(self, seconds: float) -> None:
        self._is_muted = True
        self._server.muted.add(self, seconds)

    def unmute(self) -> None:
        self._is_muted = False
        if self._phase is MUTED:
            self._wake()

    def hung_up(self) -> None:
        """Called while muted, when the client has closed its side. What it sent before is still
        handled: a producer without acknowledgements may be gone before its time is up."""
        if self._phase is MUTED:
            self._reader.receive()
            if not self._buffer.has_frame:
                self._stop_if_gone()

    @property
    def fd(self) -> int:
        return self._reader.fd

    # What the server asks, and does

    def look(self) -> None:
        """Called periodically."""
        # uvloop stops watching a socket when data and a reset arrive together: read it here.
        if self._reader.watched and self._reader.receive():
            if self._phase is RESTING:
                self._wake()
            self._stop_if_gone()
        self._progress.look(self._loop.time())

    def why_let_go(self, contended: bool) -> str | None:
        """Why this client is too slow, or None. Called periodically, after `look`."""
        now = self._loop.time()
        return self._progress.why_let_go(now, contended, self._room.size, self.hoards)

    @property
    def busy(self) -> bool:
        """Whether a quiet client is waiting for this server."""
        if not self._sender.empty:
            return False  # the server waits for the client to read its answers
        return len(self._replies) > 0 or self._buffer.leases > 0 or self._phase is GROWING

    @property
    def hoards(self) -> bool:
        """Whether it holds memory for a request or answer that the client does not finish."""
        return (self._room.size > 0 or self._phase is SENDING) and not self.busy

    def give_back(self) -> None:
        """Called while idle: give the memory of a large buffer back."""
        if self._room.size and self._buffer.idle and not self._replies:
            self._room.shrink()

    # The end

    def _stop_if_gone(self) -> None:
        """After the client has gone: end the wait for an answer that it cannot read any more."""
        may_stop = not self._replies and self._phase is not HANDLING
        if self._reader.ended and self._task is not None and may_stop:
            self._task.cancel()

    def take_no_more(self) -> None:
        """Take no further request; what is under way is still answered."""
        self._reader.unwatch()
        if not self._replies and self._sender.empty and self._task is not None:
            self._task.cancel()
        else:
            self._wake()

    def abort(self) -> None:
        self._reader.ended = True
        if self._task is not None:
            self._task.cancel()

    def _close(self) -> None:
        self._phase = CLOSED
        self._server.muted.drop(self)
        self._reader.end()
        self._replies.close()
        self._sender.close()
        self._socket.close()
        self._room.drop()
        self._server.gone(self)


def _ends(
    sock: socket.socket,
    readable: Callable[[], None],
    broken: Callable[[], None],
    server: "Server",
) -> tuple[SocketReader, Sender]:
    if isinstance(sock, ssl.SSLSocket):
        return TlsReader(sock, readable, server), TlsSender(sock, broken)
    return SocketReader(sock, readable, server), Sender(sock, broken)
