"""One client connection.

Requests are taken one after the other, and answered in that order. Produce requests may overlap:
each is queued in the log before the next is looked at, and only its answer is still under way. So a
client that pipelines gets one commit for many requests, and order in the log is order of requests.

A request is handled as soon as it is read from the socket, until it has to wait
(`eager_task.py`). Then the connection's task finishes it, and reads on afterwards.

Back-pressure works in both directions. If a client does not read its answers, nothing more is read
from it. If a store is slow, the receive buffer fills up, and then the socket's buffer.
"""

import asyncio
import logging
import socket
from typing import TYPE_CHECKING

from samsa.broker.broker import Answer, Held, Later
from samsa.broker.work import SHORT
from samsa.data_path.produce_template import Kinds
from samsa.dispatch import answer, encode, encode_later
from samsa.eager_task import Rest, begin
from samsa.handlers.k00_produce import produce_alike
from samsa.ports import Unavailable
from samsa.runtime.floor import Floor
from samsa.runtime.logs import event
from samsa.wire.apis import ApiKey
from samsa.wire.errors import DecodeError, LongAnswer
from samsa.wire.frame import Request, read_request
from samsa.wire.schema import Segment

from .buffer import SMALL, ReceiveBuffer
from .idle_poller import Beats
from .memory import Claim
from .replies import Replies, Reply
from .sender import Sender

if TYPE_CHECKING:
    from .listener import Server

log = logging.getLogger("samsa.server")
MOST_UNDER_WAY = 64
CONTENDED_S = 60.0
"""While others wait for memory, a request has this long to arrive."""
STALLED_S = 2.0
"""While others wait for memory, a client that holds some may be silent for this long."""
BEATS = (ApiKey.HEARTBEAT, ApiKey.CONSUMER_GROUP_HEARTBEAT)
PARKING = (ApiKey.FETCH, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP)


class Connection:
    def __init__(self, sock: socket.socket, peer: str, server: "Server") -> None:
        self.peer = peer
        self.host = peer.rpartition(":")[0]
        self.last_active = 0.0
        self._socket = sock
        self.fd = sock.fileno()
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._buffer = ReceiveBuffer(server.limits.max_frame_bytes)
        self._sender = Sender(sock, self.abort)
        self._replies = Replies(self._send_ready, self._memory_free)
        self._reading = False
        self._beats = Beats()
        self._kinds = Kinds()
        self._ended = False
        self._waiter: asyncio.Future[None] | None = None
        self._resting = False
        """The task waits for a request, and `readable` may begin one."""
        self._begun: Rest | None = None
        self._failed: Exception | None = None
        self._under_way: int | None = None
        """The API of the request that is being handled."""
        self._task: asyncio.Task[None] | None = None
        self._moved = (0, 0)
        self._claim = Claim()
        self._first_until = 0
        """The priority for memory ends when the buffer's `frames` reaches this number."""
        self._waits_for_memory = False
        self._holds_answer = False
        self._arriving = Floor()
        self._leaving = Floor()
        self._address = server.advertised(sock)
        self._client_host = "/" + self.host

    def start(self) -> None:
        self.last_active = self._loop.time()
        self._task = self._loop.create_task(self._serve())

    @property
    def ended(self) -> "asyncio.Task[None]":
        assert self._task is not None
        return self._task

    # Bytes in

    def _read_on(self) -> None:
        if not self._reading and not self._ended:
            self._reading = True
            self._loop.add_reader(self.fd, self.readable)

    def _read_no_more(self) -> None:
        looked_at = self._server.lull.leave(self)
        if self._reading:
            self._reading = False
            if not looked_at:
                self._loop.remove_reader(self.fd)

    def watch_closely(self) -> None:
        """Leave the idle poller: the event loop watches the socket again."""
        if self._server.lull.leave(self) and self._reading:
            self._loop.add_reader(self.fd, self.readable)

    def _heard(self, api_key: int) -> None:
        """Give a client that sends only heartbeats to the idle poller, until it sends others."""
        if api_key not in BEATS:
            if self._beats.count:
                self._beats.count = 0
                self.watch_closely()
            return
        long_enough = self._beats.one_more(self.last_active)
        if long_enough and self._reading and self._server.lull.join(self):
            self._loop.remove_reader(self.fd)

    def readable(self) -> None:
        if self._receive():
            if self._resting:
                self._handle_at_once()
            self._stop_if_gone()

    def _receive(self) -> bool:
        """Whether bytes came, or the end of the stream."""
        room = self._buffer.room()
        if not len(room):
            self._read_no_more()
            return False
        try:
            count = self._socket.recv_into(room)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            count = 0
        if count == 0:
            self._ended = True
            self._read_no_more()
        self._buffer.filled(count)
        self._server.stats.bytes_in += count
        return True

    def _stop_if_gone(self) -> None:
        if self._ended and self._task is not None and self._may_stop:
            self._task.cancel()

    @property
    def _may_stop(self) -> bool:
        """Whether to cancel the task after the client has gone. A parked request needs no answer
        then. Others are finished: clients leave their group and commit just before they close."""
        return not self._replies and self._under_way in (None, *PARKING)

    def look(self) -> None:
        """Called periodically. Bytes that moved count as activity, even if no request has ended."""
        # uvloop stops watching a socket when data and a reset arrive together: read it here.
        if self._reading and self._receive():
            if self._resting:
                self._wake()
            self._stop_if_gone()
        moved = (self._buffer.unread, self._sender.sent)
        if moved != self._moved:
            self._moved, self.last_active = moved, self._loop.time()

    def why_let_go(self, contended: bool) -> str | None:
        """Why this client is too slow, or None. Called periodically, after `look`."""
        limits, now = self._server.limits, self._loop.time()
        if self._is_slow_to_send(now, contended):
            return "slow request"
        takes = None if self._sender.empty else 0
        rate, grace_s = limits.min_request_rate, limits.idle_timeout_s
        if self._leaving.is_slow(now, takes, self._sender.sent, rate, grace_s):
            # The grace is the idle timeout: a consumer may stop reading while it processes records.
            return "slow reader"
        stalled = now - self.last_active > STALLED_S and self.hoards
        return "stalled request" if contended and stalled else None

    def _is_slow_to_send(self, now: float, contended: bool) -> bool:
        limits, buffer = self._server.limits, self._buffer
        # While others wait for memory, a whole request has to come within a minute.
        rate = max(limits.min_request_rate, self._claim.size / CONTENDED_S if contended else 0.0)
        its_turn = self._reading and not self._waits_for_memory and buffer.unread > 0
        at = buffer.frames if its_turn else None
        return self._arriving.is_slow(now, at, buffer.unread, rate, limits.slow_grace_s)

    def _handle_at_once(self) -> None:
        """Handle the frames that were read, until one has to wait."""
        try:
            while not self._ended and (frame := self._buffer.take()) is not None:
                self.last_active = self._loop.time()
                if not self._handle_alike(frame):
                    self._begun = begin(self._handle(frame))
                del frame
                if self._begun is not None:
                    break
        except Exception as error:
            self._failed = error
        if self._begun or self._failed or self._ended or self._buffer.is_full:
            self._wake()
        elif self._server.memory.contended:
            self.give_back()

    def _wake(self) -> None:
        self._resting = False
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
            if self._buffer.is_full:
                await self._make_room()
            if not self._reading:
                self._read_on()
            await self._rest()

    async def _rest(self) -> None:
        """Wait for `_wake`, then finish the request that `readable` has begun, if there is one."""
        self._resting = True
        try:
            await self._more()
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

    async def _make_room(self) -> None:
        """Before reading on: make room in the buffer, or grow it if it has to be larger."""
        if not self._buffer.wanted():
            return
        self._read_no_more()
        await self._replies.all_sent()
        while self._buffer.leases:
            await self._more()
        if self._claim.first and self._buffer.frames >= self._first_until:
            self._step_back()
        wanted = self._buffer.wanted()
        if wanted > self._buffer.capacity:
            await self._grow(wanted)
        else:
            self._buffer.make_room()

    async def _grow(self, capacity: int) -> None:
        self._server.make_way(self._claim, capacity)
        had_priority = self._claim.first
        self._waits_for_memory = True
        try:
            await self._server.memory.grow(self._claim, capacity)
        finally:
            self._waits_for_memory = False
        if self._claim.first and not had_priority:
            self._first_until = self._buffer.frames + 1
        self.last_active = self._loop.time()
        self._buffer.resize(capacity)

    def _step_back(self) -> None:
        """The request that had priority is handled: give memory back if other connections wait."""
        if self._server.memory.contended:
            self._shrink()

    def _shrink(self) -> None:
        """Shrink the buffer to what is unread. No lease may be out."""
        self._buffer.resize(SMALL)
        charged = self._buffer.capacity if self._buffer.capacity > SMALL else 0
        self._server.memory.shrink(self._claim, charged)

    def give_back(self) -> None:
        """Called while idle: give the memory of a large buffer back."""
        if self._claim.size and self._buffer.idle and not self._replies:
            self._shrink()

    # Requests

    async def _serve(self) -> None:
        try:
            while (frame := await self._next_frame()) is not None:
                self.last_active = self._loop.time()
                await self._handle(frame)
                del frame
                if self._server.memory.contended:
                    self.give_back()
            await self._replies.all_sent()
            await self._sender.drained()
        except DecodeError as error:
            event(log, logging.WARNING, "bad request", peer=self.peer, why=str(error))
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

    async def _handle(self, frame: memoryview) -> None:
        request = read_request(frame)
        self._under_way = request.api_key
        self._heard(request.api_key)
        self._server.stats.requests[request.api_key] += 1
        if request.api_key != ApiKey.PRODUCE or len(self._replies) >= MOST_UNDER_WAY:
            await self._replies.all_sent()
        if not self._sender.empty:
            await self._sender.drained()
        result = await answer(request, self._address, self._server.broker, self._client_host)
        if isinstance(result, Later):
            if result.alone is not None:
                self._kinds.learn(request, result.alone)
            self._replies.add(request, result)
            self._under_way = None
            return
        if isinstance(result, Held):
            await self._send_held(request, result)
        else:
            if not self._send(request, result):
                await self._send_long(request, result)
        self._buffer.release()
        self._under_way = None

    def _handle_alike(self, frame: memoryview) -> bool:
        """Handle a produce of a known kind. False if the frame has to be handled as usual."""
        one = self._kinds.find(frame)
        if one is None or len(self._replies) >= MOST_UNDER_WAY or not self._sender.empty:
            return False
        later = produce_alike(one, self._server.broker)
        if later is None:
            return False
        self._heard(ApiKey.PRODUCE)
        self._server.stats.requests[ApiKey.PRODUCE] += 1
        self._replies.add(one.request, later)
        return True

    def _send_ready(self, ready: list[Reply]) -> None:
        """Several answers at once, in order."""
        segments: list[Segment] = []
        try:
            for reply in ready:
                segments += encode_later(reply.request, reply.later)
        except Exception:
            log.exception("produce failed peer=%s", self.peer)
            self.abort()
        else:
            if segments:
                # None of them holds records: they are short, and fit into one packet.
                self._write([b"".join(segments)])

    def _send(self, request: Request, row: Answer) -> bool:
        """False if the answer is too long to be encoded here."""
        if row is not None:
            try:
                self._write(encode(request, row, SHORT))
            except LongAnswer:
                return False
        return True

    async def _send_long(self, request: Request, row: Answer) -> None:
        self._write(await self._server.broker.work.in_thread(encode, request, row))

    async def _send_held(self, request: Request, held: Held) -> None:
        self._holds_answer = True
        try:
            if not self._send(request, held.row):
                await self._send_long(request, held.row)
            await self._sender.drained()
        finally:
            self._holds_answer = False
            held.release()

    def _write(self, segments: list[Segment]) -> None:
        size = sum(map(len, segments))
        self._server.stats.bytes_out += size
        self._sender.write(segments, size)

    def _memory_free(self) -> None:
        self._buffer.release()
        if not self._resting:
            self._wake()

    # The end

    @property
    def busy(self) -> bool:
        """Whether a quiet client is waiting for this server."""
        if not self._sender.empty:
            return False  # the server waits for the client to read its answers
        return len(self._replies) > 0 or self._buffer.leases > 0 or self._waits_for_memory

    @property
    def hoards(self) -> bool:
        """Whether it holds memory for a request or answer that the client does not finish."""
        return (self._claim.size > 0 or self._holds_answer) and not self.busy

    def finish(self) -> None:
        """Take no further request; what is under way is still answered."""
        self._read_no_more()
        if not self._replies and self._sender.empty and self._task is not None:
            self._task.cancel()
        else:
            self._wake()

    def abort(self) -> None:
        self._ended = True
        if self._task is not None:
            self._task.cancel()

    def _close(self) -> None:
        self._ended = True
        self._read_no_more()
        self._resting = False
        self._replies.close()
        self._sender.close()
        self._socket.close()
        self._buffer.drop()
        self._server.memory.shrink(self._claim)
        self._server.gone(self)
