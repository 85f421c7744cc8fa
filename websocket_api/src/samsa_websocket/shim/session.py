"""One client connection: each request is answered before the next one is asked, except for produces
that are asked together.

request ──► kept answer? ──► hold ──► answer it
    │                         │ wake
    └──► ask ◄────────────────┘
          │ reply, gather ──► answer it, and mute the client if they say so
          │ parked        ──► hold, or ask again at its time
          │ error, fate unknown ──► ask again, or hang up
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from samsa.broker.budget import Budget
from samsa.runtime.logs import event
from samsa_websocket.envelope import (
    LARGEST_INLINE,
    Error,
    ErrorAction,
    Gather,
    Greeting,
    ParkedReply,
    Reference,
    Reply,
    Request,
    Ticket,
    Upload,
    Wake,
)
from samsa_websocket.shim.backoff import AskingPace
from samsa_websocket.shim.empty_fetch_cache import EmptyFetchCache, KeptAnswer, answer_to
from samsa_websocket.shim.errors import FateUnknown, HangUp, NothingDone
from samsa_websocket.shim.gather import Getter
from samsa_websocket.shim.handshake import GatewayAddress
from samsa_websocket.shim.incoming import Incoming, has_hung_up
from samsa_websocket.shim.link import Link
from samsa_websocket.shim.news import answer_with
from samsa_websocket.shim.outgoing import Outgoing
from samsa_websocket.shim.produce_batching import (
    Group,
    company,
    is_produce,
    may_grow,
    parts,
    size_of,
)
from samsa_websocket.shim.repeat import may_repeat
from samsa_websocket.shim.settings import ShimSettings
from samsa_websocket.shim.transfers import TransferFailed, Transfers

log = logging.getLogger("samsa.shim")


class Common:
    """What all clients of a shim share."""

    def __init__(self, settings: ShimSettings, delays: Callable[[], Iterator[float]]) -> None:
        self.settings = settings
        self.delays = delays
        self.gateway = GatewayAddress(settings)
        # Two budgets: a request that waits for memory must not block the answers that free it.
        self.requests = Budget(settings.limits.memory)
        self.answers = Budget(settings.limits.memory)
        self.transfers = Transfers(settings.limits.transfers)

    def close(self) -> None:
        self.transfers.close()


class Ahead(NamedTuple):
    """Requests that are uploaded while those before them are being answered."""

    group: Group
    reference: Reference
    put: "asyncio.Task[None]"


class ShimSession:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        greeting: Greeting,
        common: Common,
    ) -> None:
        settings = common.settings
        self._loop = asyncio.get_running_loop()
        self._common = common
        self._incoming = Incoming(
            reader, settings, common.requests, self._client_gone, lambda: has_hung_up(writer)
        )
        getter = Getter(common.transfers.get, common.answers, settings.limits.pieces_ahead)
        self._outgoing = Outgoing(writer, settings, getter)
        self._link = Link(
            common.gateway, greeting, settings.times, common.delays, self._woken, self._lost
        )
        self._kept = EmptyFetchCache()
        self._seq = 0
        self._ahead: Ahead | None = None
        self._names: set[str] = set()
        """Watches named by wakes since the last request was sent: a wake may overtake the answer
        that it belongs to."""
        self._holding: KeptAnswer | None = None
        """The kept answer for the request that is held, if no wake comes."""
        self._something = asyncio.Event()
        self._mute_ms = 0
        """As the last answer said."""

    async def serve(self) -> None:
        """Serve until the client closes. Raises HangUp or ClientRefused if it has to be closed."""
        reading = self._loop.create_task(self._incoming.read())
        answering = self._loop.create_task(self._answer_all())
        try:
            await asyncio.wait((reading, answering), return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and not reading.exception():
                # Requests from before the close are still carried out: acks=0 waits for no answer.
                within = self._common.settings.times.answer_within
                await asyncio.wait((answering,), timeout=within)
            for task in (answering, reading):
                if task.done():
                    task.result()
        finally:
            left = [reading, answering, *([self._ahead.put] if self._ahead else [])]
            for task in left:
                task.cancel()
            try:
                await asyncio.gather(*left, return_exceptions=True)
            finally:  # also when the shim ends at this moment, or the WebSocket stays open
                self._incoming.close()
                await self._link.close()

    async def _answer_all(self) -> None:
        linger_s = self._common.settings.linger_s
        while await self._incoming.some():
            if linger_s and self._ahead is None:
                await self._incoming.linger(linger_s, may_grow)
            # What was uploaded together is asked together, even if more requests have come since.
            group = self._ahead.group if self._ahead else company(self._incoming.waiting)
            self._incoming.take(len(group))
            self._seq += 1
            await self._answer(group)
            self._incoming.done_with(group)
            del group
            if self._mute_ms:
                await self._mute()

    async def _mute(self) -> None:
        """Wait while the client is over a quota: not longer than it might be idle, as no event
        tells that the quota has changed."""
        seconds = min(self._mute_ms / 1000, self._common.settings.times.client_idle)
        self._mute_ms = 0
        with self._incoming.muted():
            await asyncio.sleep(seconds)

    async def _answer(self, group: Group) -> None:
        began = self._loop.time()
        kept = self._kept.find(group[0], began)
        if kept is not None and await self._held(group[0], began + kept.wait_s, kept):
            return
        pace = AskingPace(self._common.delays)
        good_at = began
        while True:
            asked_at = self._loop.time()
            try:
                if await self._asked(group, began):
                    return
                good_at = self._loop.time()
                delay = pace.after(good_at - asked_at)
            except (NothingDone, FateUnknown) as error:
                self._raise_if_hopeless(group, error, good_at)
                delay = pace.after_failure()
                event(log, logging.WARNING, "asking again", why=error, again_in=f"{delay:.1f}s")
            await asyncio.sleep(delay)

    def _raise_if_hopeless(self, group: Group, error: Exception, good_at: float) -> None:
        """Raises HangUp if repeating the request is not safe, or has failed for too long."""
        if isinstance(error, FateUnknown) and not all(map(may_repeat, group)):
            raise HangUp(f"its request may have been carried out: {error}") from error
        if self._loop.time() - good_at > self._common.settings.times.failing:
            raise HangUp(f"the cluster goes on failing: {error}") from error

    async def _asked(self, group: Group, began: float) -> bool:
        """Ask once. True if the client has been answered; False if the shim has to ask again."""
        waited_s = self._loop.time() - began
        answer = await self._send(group, round(waited_s * 1000))
        if isinstance(answer, Reply):
            await self._outgoing.frame(answer.frame, answer.several)
            self._mute_ms = answer.mute_ms
            return True
        if isinstance(answer, Gather):
            await self._outgoing.gathered(answer)
            self._mute_ms = answer.mute_ms
            return True
        if isinstance(answer, ParkedReply):
            return await self._park(group[0], answer, waited_s)
        if answer.code is ErrorAction.CLOSE:
            raise HangUp(answer.text)
        raise NothingDone(answer.text)

    async def _send(self, group: Group, waited_ms: int) -> Reply | ParkedReply | Gather | Error:
        question: Request | Reference
        if size_of(group) <= LARGEST_INLINE:
            lingers = self._common.settings.linger_s > 0 and is_produce(group[0])
            question = Request(
                self._seq, b"".join(parts(group)), waited_ms, len(group) > 1, lingers
            )
        else:
            question = (await self._uploaded(group))._replace(waited_ms=waited_ms)
            await self._upload_ahead()
        self._names.clear()
        answer: Reply | ParkedReply | Gather | Error = await self._link.ask(
            question, Reply, ParkedReply, Gather, Error
        )
        return answer

    async def _uploaded(self, group: Group) -> Reference:
        """Raises NothingDone for any failure: a request that is only stored was not carried out."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or ahead.group is not group:
            ahead = await self._upload(group, self._seq)
        try:
            await ahead.put
        except TransferFailed as error:
            raise NothingDone(f"upload: {error}") from error
        return ahead.reference

    async def _upload_ahead(self) -> None:
        """Upload the next requests, if they are here and large, while the present one is answered.
        What fails now is tried again, and reported, when it is their turn."""
        group = company(self._incoming.waiting)
        if size_of(group) > LARGEST_INLINE and self._ahead is None:
            with suppress(NothingDone, HangUp):
                self._ahead = await self._upload(group, self._seq + 1)

    async def _upload(self, group: Group, seq: int) -> Ahead:
        """Begin an upload. Raises NothingDone, and HangUp if the cluster refuses it."""
        data, size = list(parts(group)), size_of(group)
        digest = hashlib.sha256()
        for part in data:
            digest.update(part)
        sha256 = digest.hexdigest()
        try:
            ticket = await self._link.ask(Upload(seq, size, sha256), Ticket, Error)
        except FateUnknown as error:
            raise NothingDone(f"no ticket: {error}") from error
        if isinstance(ticket, Error):
            if ticket.code is ErrorAction.CLOSE:
                raise HangUp(ticket.text)
            raise NothingDone(ticket.text)
        put = self._common.transfers.put(ticket.url, ticket.headers, data)
        reference = Reference(seq, ticket.key, size, sha256, several=len(group) > 1)
        return Ahead(group, reference, self._loop.create_task(put))

    # Parking

    async def _park(self, frame: bytes, parked: ParkedReply, waited_s: float) -> bool:
        now = self._loop.time()
        wait_s, good_s = parked.wait_ms / 1000, parked.good_ms / 1000
        watches = frozenset(parked.watches)
        if not len(parked.frame):
            await self._sleep(now + wait_s, watches)
            return False
        kept = KeptAnswer(parked.frame, waited_s + wait_s, now + (good_s or wait_s), watches)
        if good_s and self._names.isdisjoint(watches):
            self._kept.keep(frame, kept)
        return await self._held(frame, now + wait_s, kept)

    async def _held(self, request: bytes, until: float, kept: KeptAnswer) -> bool:
        """Hold the request. True once it is answered, with the kept answer or with what wakes
        brought; False if the shim has to ask again."""
        self._holding = kept
        woken = await self._sleep(min(until, kept.good_until), kept.watches, kept.news)
        self._holding = None
        answer: bytes | None = None
        if kept.news and self._link.is_open:
            with_news = answer_with(kept.news, request, kept.frame)
            if with_news is None:
                self._kept.forget(kept.watches)
            else:
                self._kept.told(request, kept, with_news)
                self._names -= kept.watches  # this answer holds all that their wakes brought
                answer = with_news.frame
        elif not woken and until <= kept.good_until:
            answer = answer_to(request, kept.frame)
        if answer is None:
            return False
        await self._outgoing.frame(answer)
        return True

    async def _sleep(
        self, until: float, watches: Collection[str], news: Sequence[Wake] = ()
    ) -> bool:
        """True if it ended before its time: one of the watches was named, there is news, or the
        link was lost."""
        while self._link.is_open and self._names.isdisjoint(watches) and not news:
            if self._incoming.ended:
                raise HangUp("it has gone")
            left = until - self._loop.time()
            if left <= 0:
                return False
            self._something.clear()
            try:
                async with asyncio.timeout(left):
                    await self._something.wait()
            except TimeoutError:
                return False
        return True

    def _woken(self, wake: Wake) -> None:
        took = self._kept.bring(wake)
        if not any(kept is self._holding for kept in took):
            self._names.update(wake.names)
        self._something.set()

    def _lost(self) -> None:
        self._kept.forget_all()
        self._something.set()

    def _client_gone(self) -> None:
        self._something.set()
