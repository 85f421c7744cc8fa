"""One client connection: each request is answered before the next one is asked, but for produces
that are asked together.

request ──► kept answer? ──► hold ──► answer it
    │                         │ wake
    └──► ask ◄────────────────┘
          │ reply, gather ──► answer it
          │ parked        ──► hold, or ask again at its time
          │ error, fate unknown ──► ask again, or hang up
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from samsa.envelope import (
    LARGEST_INLINE,
    Error,
    ErrorCode,
    Gather,
    Greeting,
    Parked,
    Reference,
    Reply,
    Request,
    Ticket,
    Upload,
    Wake,
)
from samsa.handlers.budget import Budget
from samsa.server.logs import event
from samsa.shim.backoff import Pace
from samsa.shim.errors import FateUnknown, HangUp, NothingDone
from samsa.shim.gather import Getter
from samsa.shim.handshake import Door
from samsa.shim.incoming import Incoming
from samsa.shim.kept import Kept, KeptAnswers, answer_to
from samsa.shim.link import Link
from samsa.shim.news import answer_with
from samsa.shim.outgoing import Outgoing
from samsa.shim.repeat import may_repeat
from samsa.shim.settings import Settings
from samsa.shim.together import Group, company, may_grow, parts, size_of
from samsa.shim.transfers import TransferFailed, Transfers

log = logging.getLogger("samsa.shim")


class Common:
    """What all clients of a shim share."""

    def __init__(self, settings: Settings, delays: Callable[[], Iterator[float]]) -> None:
        self.settings = settings
        self.delays = delays
        self.door = Door(settings)
        # Two, or a request that waits for memory could stand before the answers that free it.
        self.requests = Budget(settings.limits.memory)
        self.answers = Budget(settings.limits.memory)
        self.transfers = Transfers(settings.limits.transfers)

    def close(self) -> None:
        self.transfers.close()


class Ahead(NamedTuple):
    """What is uploaded while that before it is being answered."""

    group: Group
    reference: Reference
    put: "asyncio.Task[None]"


class Session:
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
        self._incoming = Incoming(reader, settings, common.requests, self._client_gone)
        getter = Getter(common.transfers.get, common.answers, settings.limits.pieces_ahead)
        self._outgoing = Outgoing(writer, settings, getter)
        self._link = Link(
            common.door, greeting, settings.times, common.delays, self._woken, self._lost
        )
        self._kept = KeptAnswers()
        self._seq = 0
        self._ahead: Ahead | None = None
        self._names: set[str] = set()
        """Woken since the last request was sent: a wake may overtake what it belongs to."""
        self._holding: Kept | None = None
        """What a request that is held will be answered with, if nothing comes."""
        self._something = asyncio.Event()

    async def serve(self) -> None:
        """Until the client goes, or must go: then HangUp or Refused says why."""
        reading = self._loop.create_task(self._incoming.read())
        answering = self._loop.create_task(self._answer_all())
        try:
            await asyncio.wait((reading, answering), return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and not reading.exception():
                # What it sent before it went is still carried out: with acks=0 nobody waits for it.
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
            # What was uploaded as one is asked as one, whoever came since.
            group = self._ahead.group if self._ahead else company(self._incoming.waiting)
            self._incoming.take(len(group))
            self._seq += 1
            await self._answer(group)
            self._incoming.done_with(group)
            del group

    async def _answer(self, group: Group) -> None:
        began = self._loop.time()
        kept = self._kept.find(group[0], began)
        if kept is not None and await self._held(group[0], began + kept.wait_s, kept):
            return
        pace = Pace(self._common.delays)
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
        """Raises HangUp where asking again may do harm, or has not helped for too long."""
        if isinstance(error, FateUnknown) and not all(map(may_repeat, group)):
            raise HangUp(f"its request may have been carried out: {error}") from error
        if self._loop.time() - good_at > self._common.settings.times.failing:
            raise HangUp(f"the cluster goes on failing: {error}") from error

    async def _asked(self, group: Group, began: float) -> bool:
        """Ask once. True if the client has been answered; False if it is to be asked again."""
        waited_s = self._loop.time() - began
        answer = await self._send(group, round(waited_s * 1000))
        if isinstance(answer, Reply):
            await self._outgoing.frame(answer.frame, answer.several)
            return True
        if isinstance(answer, Gather):
            await self._outgoing.gathered(answer)
            return True
        if isinstance(answer, Parked):
            return await self._park(group[0], answer, waited_s)
        if answer.code is ErrorCode.CLOSE:
            raise HangUp(answer.text)
        raise NothingDone(answer.text)

    async def _send(self, group: Group, waited_ms: int) -> Reply | Parked | Gather | Error:
        question: Request | Reference
        if size_of(group) <= LARGEST_INLINE:
            question = Request(self._seq, b"".join(parts(group)), waited_ms, len(group) > 1)
        else:
            question = (await self._uploaded(group))._replace(waited_ms=waited_ms)
            await self._upload_ahead()
        self._names.clear()
        answer: Reply | Parked | Gather | Error = await self._link.ask(
            question, Reply, Parked, Gather, Error
        )
        return answer

    async def _uploaded(self, group: Group) -> Reference:
        """Raises NothingDone, whatever goes wrong: a request that is only stored was not made."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or ahead.group is not group:
            ahead = await self._upload(group, self._seq)
        try:
            await ahead.put
        except TransferFailed as error:
            raise NothingDone(f"upload: {error}") from error
        return ahead.reference

    async def _upload_ahead(self) -> None:
        """Of what is next, if it is here and large: its bytes travel while this is answered. What
        does not work now is tried again, and reported, when it is its turn."""
        group = company(self._incoming.waiting)
        if size_of(group) > LARGEST_INLINE and self._ahead is None:
            with suppress(NothingDone, HangUp):
                self._ahead = await self._upload(group, self._seq + 1)

    async def _upload(self, group: Group, seq: int) -> Ahead:
        """Begun. Raises NothingDone, and HangUp if it may not be."""
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
            if ticket.code is ErrorCode.CLOSE:
                raise HangUp(ticket.text)
            raise NothingDone(ticket.text)
        put = self._common.transfers.put(ticket.url, ticket.headers, data)
        reference = Reference(seq, ticket.key, size, sha256, several=len(group) > 1)
        return Ahead(group, reference, self._loop.create_task(put))

    # Parking

    async def _park(self, frame: bytes, parked: Parked, waited_s: float) -> bool:
        now = self._loop.time()
        wait_s, good_s = parked.wait_ms / 1000, parked.good_ms / 1000
        watches = frozenset(parked.watches)
        if not len(parked.frame):
            await self._sleep(now + wait_s, watches)
            return False
        kept = Kept(parked.frame, waited_s + wait_s, now + (good_s or wait_s), watches)
        if good_s and self._names.isdisjoint(watches):
            self._kept.keep(frame, kept)
        return await self._held(frame, now + wait_s, kept)

    async def _held(self, request: bytes, until: float, kept: Kept) -> bool:
        """True once it is answered, with what is kept or with what wakes brought; False if it is
        to be asked again."""
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
                self._names -= kept.watches  # all that they were woken for is in this answer
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
