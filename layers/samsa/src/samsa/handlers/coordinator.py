"""The coordinator's shell: it loads a group, lets the pure step work on it, stores the outcome by
compare-and-swap, wakes whoever may go on, and parks whoever must wait.

Any process may serve any group. In one process the requests of a group take turns (`seats`), so
that only processes race; who loses steps again on what the winner left. Nobody is answered before
what the answer says is stored. A group is kept in memory as it was last stored, and read again only
if its version has changed: every step still asks for that, which is how processes know of one
another, unless the store knows that this one is alone. A step that changes nothing writes nothing,
and most heartbeats are such steps: they are noted here, and written with the first that must be
written.

A parked request looks again when it is woken, when something in the group falls due, and in any
case now and then: a lost wake-up costs only that delay. One whose client goes away is dropped; its
member stays and is expired like any other that falls silent, unless the client never learned the
member's id: nobody will come back for that one, and it leaves at once.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import blake2b
from itertools import chain
from uuid import UUID
from zlib import crc32

from samsa.groups import (
    Answer,
    ClassicGroup,
    ConsumerGroup,
    ConsumerHeartbeat,
    Corrupt,
    Group,
    GroupError,
    Hearing,
    Heartbeat,
    Join,
    Leave,
    Leaving,
    Parked,
    Request,
    Settings,
    Steps,
    Sync,
    TooLarge,
    TopicInfo,
    beaten,
    expire,
    fits,
    patterns_of,
    quieted,
    refusal,
    step,
    steps,
    unpack,
    why_unfit,
)
from samsa.groups.requests import asker, fresh_id
from samsa.log.background import Background
from samsa.log.stores import Stores
from samsa.ports import GroupItem, GroupKey, Groups, Misconfigured, Unavailable

from .known_topics import KnownTopics
from .seats import Seat, Seats

log = logging.getLogger("samsa.groups")
LONGEST_WAIT_MS = 5_000
"""Between two looks of a parked request."""
FULL = GroupError.GROUP_MAX_SIZE_REACHED
SAY_EVERY_MS = 1_000
MANY = 500
"""Partitions, or topics, that take a millisecond or more to assign."""
TRIES = 50
"""Lost races before a client is told to ask again. Each one means that somebody else went on."""


class Coordinator:
    def __init__(
        self, stores: Stores, groups: Groups, settings: Settings, topics: KnownTopics
    ) -> None:
        self.groups = groups
        self.settings = settings
        self._stores = stores
        self._topics = topics
        self._seats = Seats()
        self._background = Background()
        self._hearer = stores.nonce()[:12] if settings.exact_sessions else ""
        """Its name as the one that hears members: see `samsa.groups.hearing`."""
        self.refused = 0
        """Requests that a group had no room for: members, or bytes."""
        self._said_at = 0

    def ticket(self, group_id: str) -> str:
        word = f"{group_id} {self._stores.nonce()}".encode()
        return str(UUID(bytes=blake2b(word, digest_size=16).digest()))

    @property
    def waiter(self) -> str:
        """Where others wake the requests that are parked here."""
        return self._stores.wakeups.address

    async def ask(self, group_id: str, request: Request) -> Answer:
        """The answer, however long it takes. Raises Unavailable."""
        if isinstance(request, Heartbeat):
            return self._beaten(group_id, request) or await self._in_turn(group_id, request)
        unfit = why_unfit(request)
        if unfit:
            return self._refuse(group_id, request, unfit)
        if not isinstance(request, Join | Sync):
            return await self._in_turn(group_id, request)
        try:
            return await self._wait_for_answer(group_id, request)
        except asyncio.CancelledError:
            self._give_up(group_id, request)
            raise

    async def _wait_for_answer(self, group_id: str, request: Join | Sync) -> Answer:
        with self._stores.wakeups.subscribe([GroupKey(group_id)]) as woken:
            answer = await self._in_turn(group_id, request)
            while isinstance(answer, Parked):
                left = answer.deadline_ms - self._stores.clock.now_ms()
                await woken.wait(min(max(left, 1), LONGEST_WAIT_MS))
                again = answer.ask
                answer = self._at_once(group_id, again) or await self._in_turn(group_id, again)
            return answer

    def _beaten(self, group_id: str, request: Heartbeat) -> Answer | None:
        """The answer, if the group is known as it is stored and the heartbeat changes nothing."""
        seat = self._seats.of(group_id)
        if not self.groups.is_current(group_id, seat.version):
            return None
        now_ms = self._stores.clock.now_ms()
        answer = beaten(seat.group, request, now_ms, self._hearer)
        if answer is not None and answer.error is None:
            seat.heard[request.member_id] = now_ms
        return answer

    def _at_once(self, group_id: str, request: Join | Sync) -> Answer | None:
        """Likewise: mostly, another look changes nothing."""
        seat = self._seats.of(group_id)
        group = seat.group
        if isinstance(group, ConsumerGroup) or not self.groups.is_current(group_id, seat.version):
            return None
        now_ms = self._stores.clock.now_ms()
        hearing = seat.hearing(self._hearer, now_ms)
        taken = step(group, request, now_ms, self.settings, hearing)
        return taken.answer if taken.group is group else None

    def _give_up(self, group_id: str, request: Join | Sync) -> None:
        if isinstance(request, Join) and not request.member_id and request.instance_id is None:
            leave = Leave((Leaving(fresh_id(request)),))
            self._background.start(self._leave(group_id, leave))

    async def _leave(self, group_id: str, leave: Leave) -> None:
        await self._in_turn(group_id, leave)

    def _take_back_ids(
        self, group_id: str, group: Group | None, refused: Sequence[Request]
    ) -> None:
        """A client that was given an id and then refused does not come back: forget the id."""
        for request in refused:
            if (
                isinstance(request, Join)
                and isinstance(group, ClassicGroup)
                and request.member_id in group.pending
            ):
                leave = Leave((Leaving(request.member_id),))
                self._background.start(self._leave(group_id, leave))

    async def look(self, group_id: str) -> tuple[Group | None, int]:
        """The group as it is now, and the version that is stored (0: there is none)."""
        seat = self._seats.of(group_id)
        group, version = await self._load(group_id, seat)
        if group is not None:
            now_ms = self._stores.clock.now_ms()
            group = expire(group, now_ms, self.settings, seat.hearing(self._hearer, now_ms))
        return group, version

    async def tidy(self, group_id: str) -> tuple[Group | None, int]:
        """As `look`, and what was overdue is stored: nobody may have touched the group for long."""
        seat = self._seats.of(group_id)
        await self._steps(group_id, seat, ())
        return seat.group, seat.version

    async def _load(self, group_id: str, seat: Seat) -> tuple[Group | None, int]:
        group, version = seat.group, seat.version
        if self.groups.is_current(group_id, version):
            return group, version
        item = await self._stores.insist(self.groups.group, group_id, version)
        if item is None:
            group, version = None, 0
        elif item.version != version:
            group, version = _read(group_id, item), item.version
        seat.keep(version, group)
        return group, version

    def _in_turn(self, group_id: str, request: Request) -> "asyncio.Future[Answer]":
        seat = self._seats.of(group_id)
        answer = seat.ask(request)
        if not seat.turns:
            seat.turns = True
            self._background.start(seat.take_turns(partial(self._steps, group_id, seat)))
        return answer

    async def _steps(
        self, group_id: str, seat: Seat, requests: Sequence[Request]
    ) -> Sequence[Answer]:
        for _ in range(TRIES):
            group, version = await self._load(group_id, seat)
            asked = await self._informed(group, requests)
            now_ms = self._stores.clock.now_ms()
            hearing = seat.hearing(self._hearer, now_ms)
            taken, packed = await self._where_it_may_take_long(group, seat, asked, now_ms, hearing)
            if taken.group is group and group is not None and seat.group is group:
                seat.group = quieted(group, now_ms, self.settings, hearing)
            if packed is None:
                self._take_back_ids(group_id, group, requests)
                return [self._refuse(group_id, request) for request in requests]
            if taken.group is group or await self._store(group_id, seat, version, taken, packed):
                for request, answer in zip(requests, taken.answers, strict=True):
                    self._hear(seat, request, answer)
                return taken.answers
        raise Unavailable(f"group {group_id!r} changes too fast")

    def _step(
        self,
        group: Group | None,
        seat: Seat,
        asked: Sequence[Request],
        now_ms: int,
        hearing: Hearing,
    ) -> tuple[Steps, bytes | None]:
        """What the requests do, and the group to be written as bytes: none where nothing changes,
        None if it is too large. Raises TooLarge where each request must be served by itself."""
        taken = steps(group, asked, now_ms, self.settings, hearing)
        if taken.group is group:
            return taken, b""
        packed = _packed(seat, group, taken, asked)
        if packed is None and len(asked) > 1:
            raise TooLarge("one of several requests makes the group too large")
        if packed is None and isinstance(group, ConsumerGroup):
            # If there are too many new topics, the members keep those that they have.
            known = [_without_new_topics(group, asked[0])]
            taken = steps(group, known, now_ms, self.settings, hearing)
            packed = b"" if taken.group is group else _packed(seat, group, taken, known)
        return taken, packed

    async def _where_it_may_take_long(
        self,
        group: Group | None,
        seat: Seat,
        asked: Sequence[Request],
        now_ms: int,
        hearing: Hearing,
    ) -> tuple[Steps, bytes | None]:
        """In the event loop; or in the thread, where many partitions may have to be assigned. There
        it gets a copy of what others write to meanwhile."""
        if not _is_wide(group, asked):
            return self._step(group, seat, asked, now_ms, hearing)
        still = hearing._replace(heard=dict(hearing.heard))
        work = self._topics.work
        return await work.in_thread(self._step, group, seat, asked, now_ms, still)

    def _refuse(self, group_id: str, request: Request, error: GroupError = FULL) -> Answer:
        self.refused += 1
        now_ms = self._stores.clock.now_ms()
        if abs(now_ms - self._said_at) >= SAY_EVERY_MS:
            self._said_at = now_ms
            what = type(request).__name__
            log.warning("group %.200r has no room for a %s: %s", group_id, what, error.name)
        return refusal(request, error)

    def _hear(self, seat: Seat, request: Request, answer: Answer) -> None:
        """A member is heard by what it asks, also while its join or sync is parked."""
        error = getattr(answer, "error", None)
        self.refused += error is FULL
        if isinstance(request, Leave) or error is not None:
            return
        member_id = asker(request) if isinstance(request, Join | Sync) else request.member_id
        if seat.group is not None and member_id in seat.group.members:
            seat.heard[member_id] = self._stores.clock.now_ms()

    async def _informed(
        self, group: Group | None, requests: Sequence[Request]
    ) -> Sequence[Request]:
        """Where the coordinator assigns, it must know the topics: in a group of the consumer
        protocol, and in one that becomes so in this turn."""
        assigns = isinstance(group, ConsumerGroup)
        if not assigns and not any(isinstance(each, ConsumerHeartbeat) for each in requests):
            return requests
        curious = [each for each in requests if isinstance(each, ConsumerHeartbeat | Join)]
        now = self._stores.clock.now_ms()
        known = await self._stores.insist(self._topics.at, now, any(map(_subscribes, curious)))
        patterns = {pattern for each in curious for pattern in patterns_of(group, each)}
        matches = await self._topics.matches(patterns, known) if patterns else {}
        return [
            each._replace(known=known, matches=matches)
            if isinstance(each, ConsumerHeartbeat | Join)
            else each
            for each in requests
        ]

    async def _store(
        self, group_id: str, seat: Seat, before: int, taken: Steps, packed: bytes
    ) -> bool:
        version = before + 1 if before else self._first_version()
        item = GroupItem(version, packed)
        stored = await self._put(group_id, item, before)
        if stored:
            seat.keep(item.version, taken.group)
            seat.forget_the_gone()
            if taken.wake:
                self._stores.wakeups.wake(GroupKey(group_id), taken.wake)
        return stored

    async def _put(self, group_id: str, item: GroupItem, after: int) -> bool:
        try:
            return await self.groups.put_group(group_id, item, after)
        except Misconfigured:
            raise
        except Unavailable:
            if await self._stores.insist(self.groups.put_group, group_id, item, after):
                return True
        # It may have been stored and answered by what came after it: a second step would not know
        # what the first one had to tell.
        raise Unavailable(f"group {group_id!r}: nobody knows whether it was stored")

    def _first_version(self) -> int:
        """Of a group that is new: one that no group of its name has had."""
        return self._stores.clock.now_ms() << 20 | crc32(self._stores.nonce().encode()) & 0xFFFFF

    async def drain(self) -> None:
        await self._background.drain()


def _is_wide(group: Group | None, asked: Sequence[Request]) -> bool:
    """Whether many partitions may have to be assigned, or many topics looked at for that."""
    if isinstance(group, ConsumerGroup) and _is_much(group.topics.values()):
        return True
    for each in asked:
        if isinstance(each, ConsumerHeartbeat | Join):
            names = [*(getattr(each, "topics", None) or ()), *chain(*each.matches.values())]
            if len(names) > MANY or _is_much(each.known[n] for n in names if n in each.known):
                return True
    return False


def _is_much(topics: Iterable[TopicInfo]) -> bool:
    return sum(1 + topic.partitions for topic in topics) > MANY


def _subscribes(request: ConsumerHeartbeat | Join) -> bool:
    if isinstance(request, Join):
        return not request.again
    return request.topics is not None or request.pattern is not None


def _read(group_id: str, item: GroupItem) -> Group | None:
    """What cannot be read is as good as gone: its members join again, and it is written over."""
    try:
        return unpack(item.state)
    except Corrupt as error:
        log.error("group %.200r cannot be read, and begins anew: %s", group_id, error)
        return None


def _packed(
    seat: Seat, group: Group | None, taken: Steps, asked: Sequence[Request]
) -> bytes | None:
    assert taken.group is not None
    try:
        packed = seat.packer.pack(taken.group)
    except TooLarge:
        return None
    return packed if fits(len(packed), group, asked) else None


def _without_new_topics(group: ConsumerGroup, request: Request) -> Request:
    if not isinstance(request, ConsumerHeartbeat | Join):
        return request
    return request._replace(known=group.topics, matches=group.matches)
