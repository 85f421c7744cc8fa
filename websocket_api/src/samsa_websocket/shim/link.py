"""One client's WebSocket to the cluster: opened when needed, replaced when it breaks or gets old.

It asks one question at a time. A question that was sent and not answered has an unknown fate; one
that could not be sent was never asked.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

from samsa.runtime.logs import event
from samsa_websocket import envelope
from samsa_websocket.shim.errors import Away, FateUnknown, HangUp, NothingDone
from samsa_websocket.shim.handshake import GatewayAddress
from samsa_websocket.shim.settings import ShimTimes

log = logging.getLogger("samsa.shim")
NOT_CARRIED_OUT = ("Too Many Requests", "Limit Exceeded")
"""API Gateway's messages when it did not call the function."""


class Link:
    def __init__(
        self,
        gateway: GatewayAddress,
        greeting: envelope.Greeting,
        times: ShimTimes,
        delays: Callable[[], Iterator[float]],
        woken: Callable[[envelope.Wake], None],
        lost: Callable[[], None],
    ) -> None:
        self._gateway = gateway
        self._greeting = greeting
        self._times = times
        self._delays = delays
        self._woken = woken
        self._lost = lost
        """Called when the WebSocket ends: no wake comes on it any more."""
        self._loop = asyncio.get_running_loop()
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._pinger: asyncio.TimerHandle | None = None
        self._pinging: asyncio.Task[None] | None = None
        self._opened_at = 0.0
        self._last_sent = 0.0
        self._awaited: tuple[int, tuple[type, ...]] = (0, ())
        self._answer: asyncio.Future[envelope.Message] | None = None

    @property
    def is_open(self) -> bool:
        return self._socket is not None and self._socket.state is State.OPEN

    async def ask(self, question: Any, *kinds: type) -> Any:
        """The answer, which is of one of these kinds.

        Raises ClientRefused, NothingDone or FateUnknown; and HangUp if the cluster stays away.
        """
        text = envelope.encode(question)
        await self._ready()
        assert self._socket is not None
        self._awaited = question.seq, kinds
        self._answer = self._loop.create_future()
        try:
            async with asyncio.timeout(self._times.answer_within):
                await self._send(text)
                answer = await self._answer
        except (ConnectionClosed, TimeoutError) as error:
            await self.close()
            raise FateUnknown(str(error) or "no answer in time") from error
        finally:
            self._answer = None
        if isinstance(answer, envelope.Failure):
            if answer.text in NOT_CARRIED_OUT:
                raise NothingDone(answer.text)
            raise FateUnknown(answer.text)
        return answer

    async def _send(self, text: str) -> None:
        assert self._socket is not None
        self._last_sent = self._loop.time()
        cut = envelope.parts(text)
        await self._socket.send(cut[0] if len(cut) == 1 else cut)

    # Opening and closing

    async def _ready(self) -> None:
        if self.is_open and self._loop.time() - self._opened_at < self._times.life:
            return
        await self.close()
        ends = self._loop.time() + self._times.away
        for delay in self._delays():
            try:
                self._opened(await self._gateway.open(self._greeting))
                return
            except Away as error:
                if self._loop.time() + delay > ends:
                    raise HangUp(f"cluster away: {error}") from error
                event(log, logging.WARNING, "cluster away", why=error, again_in=f"{delay:.1f}s")
            await asyncio.sleep(delay)

    def _opened(self, opened: ClientConnection) -> None:
        self._socket = opened
        self._opened_at = self._last_sent = self._loop.time()
        self._reader = self._loop.create_task(self._read(opened))
        self._pinger = self._loop.call_later(self._times.ping_after, self._ping)
        event(log, logging.DEBUG, "connected", client=self._greeting.client)

    async def close(self) -> None:
        opened, self._socket = self._socket, None
        for running in (self._reader, self._pinging):
            if running is not None:
                running.cancel()
        if self._pinger is not None:
            self._pinger.cancel()
        self._reader = self._pinging = self._pinger = None
        if opened is not None:
            self._lost()
            try:
                await opened.close()
            except asyncio.CancelledError:
                opened.transport.abort()  # or its socket stays open when the loop has ended
                raise

    # What comes

    async def _read(self, opened: ClientConnection) -> None:
        why = "closed"
        try:
            while True:
                self._take(envelope.decode(await opened.recv(decode=True)))
        except ConnectionClosed as error:
            why = str(error)
        except envelope.EnvelopeError as error:
            why = f"not our envelope: {error}"
            event(log, logging.ERROR, "bad message", why=error)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(FateUnknown(why))
            self._answer.exception()  # its caller may have been timed out at the same time
        event(log, logging.DEBUG, "connection lost", why=why)
        self._lost()
        await opened.close()

    def _take(self, message: envelope.Message) -> None:
        if isinstance(message, envelope.Wake):
            self._woken(message)
        elif isinstance(message, envelope.Ping):
            self._pong()
        elif self._answer is None or self._answer.done():
            event(log, logging.DEBUG, "late answer", kind=type(message).__name__)
        elif isinstance(message, envelope.Failure) or self._is_awaited(message):
            self._answer.set_result(message)

    def _is_awaited(self, message: Any) -> bool:
        seq, kinds = self._awaited
        if isinstance(message, envelope.Error) and not message.seq:
            return True  # the function could not even read the number of the question
        return message.seq == seq and isinstance(message, kinds)

    # Pings

    def _ping(self) -> None:
        quiet = self._loop.time() - self._last_sent
        if quiet >= self._times.ping_after and self._answer is None:
            self._pinging = self._loop.create_task(self._send_ping())
            quiet = 0.0
        left = max(self._times.ping_after - quiet, 0.001)
        self._pinger = self._loop.call_later(left, self._ping)

    async def _send_ping(self) -> None:
        opened = self._socket
        try:
            await self._send(envelope.encode(envelope.Ping()))
            await asyncio.sleep(self._times.answer_within)
        except ConnectionClosed:
            return
        if opened is not None and opened is self._socket:
            event(log, logging.INFO, "no answer to a ping")
            await opened.close()

    def _pong(self) -> None:
        if self._pinging is not None:
            self._pinging.cancel()
            self._pinging = None
