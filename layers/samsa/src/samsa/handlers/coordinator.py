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
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from uuid import UUID
from zlib import crc32

from samsa.groups import (
    Answer,
    ConsumerGroup,
    ConsumerHeartbeat,
    Group,
    Heartbeat,
    Join,
    Leave,
    Leaving,
    Parked,
    Request,
    Settings,
    Sync,
    beaten,
    expire,
    patterns_of,
    step,
    steps,
    unpack,
)
from samsa.groups.requests import fresh_id
from samsa.log.background import Background
from samsa.log.stores import Stores
from samsa.ports import GroupItem, GroupKey, Groups, Misconfigured, Unavailable

from .known_topics import KnownTopics
from .seats import Seat, Seats

LONGEST_WAIT_MS = 5_000
"""Between two looks of a parked request."""
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
        answer = beaten(seat.group, request, now_ms)
        if answer is not None and answer.error is None:
            seat.heard[request.member_id] = now_ms
        return answer

    def _at_once(self, group_id: str, request: Join | Sync) -> Answer | None:
        """Likewise: mostly, another look changes nothing."""
        seat = self._seats.of(group_id)
        group = seat.group
        if isinstance(group, ConsumerGroup) or not self.groups.is_current(group_id, seat.version):
            return None
        taken = step(group, request, self._stores.clock.now_ms(), self.settings)
        return taken.answer if taken.group is group else None

    def _give_up(self, group_id: str, request: Join | Sync) -> None:
        if isinstance(request, Join) and not request.member_id and request.instance_id is None:
            leave = Leave((Leaving(fresh_id(request)),))
            self._background.start(self._leave(group_id, leave))

    async def _leave(self, group_id: str, leave: Leave) -> None:
        await self._in_turn(group_id, leave)

    async def look(self, group_id: str) -> tuple[Group | None, int]:
        """The group as it is now, and the version that is stored (0: there is none)."""
        group, version = await self._load(group_id, self._seats.of(group_id))
        if group is not None:
            group = expire(group, self._stores.clock.now_ms(), self.settings)
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
            group, version = unpack(item.state), item.version
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
        clock = self._stores.clock
        for _ in range(TRIES):
            group, version = await self._load(group_id, seat)
            asked = await self._informed(group, requests)
            taken = steps(group, asked, clock.now_ms(), self.settings, seat.heard)
            if taken.group is group:
                for request, answer in zip(requests, taken.answers, strict=True):
                    _hear(seat, request, answer, clock.now_ms())
                return taken.answers
            if await self._store(group_id, seat, version, taken.group):
                if taken.wake:
                    self._stores.wakeups.wake(GroupKey(group_id), taken.wake)
                return taken.answers
        raise Unavailable(f"group {group_id!r} changes too fast")

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
        matches = known.matches(patterns)
        return [
            each._replace(known=known.topics, matches=matches)
            if isinstance(each, ConsumerHeartbeat | Join)
            else each
            for each in requests
        ]

    async def _store(self, group_id: str, seat: Seat, before: int, after: Group | None) -> bool:
        assert after is not None
        version = before + 1 if before else self._first_version()
        item = GroupItem(version, seat.packer.pack(after))
        stored = await self._put(group_id, item, before)
        if stored:
            seat.keep(item.version, after)
            seat.heard.clear()
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


def _subscribes(request: ConsumerHeartbeat | Join) -> bool:
    if isinstance(request, Join):
        return not request.again
    return request.topics is not None or request.pattern is not None


def _hear(seat: Seat, request: Request, answer: Answer, now_ms: int) -> None:
    if isinstance(request, Heartbeat | ConsumerHeartbeat) and getattr(answer, "error", 1) is None:
        seat.heard[request.member_id] = now_ms
