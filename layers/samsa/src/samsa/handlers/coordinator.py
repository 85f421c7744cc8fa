"""The coordinator's shell: it loads a group, lets the pure step work on it, stores the outcome by
compare-and-swap, wakes whoever may go on, and parks whoever must wait.

Any process may serve any group. In one process the requests of a group take turns, so that only
processes race; who loses steps again on what the winner left. A group is kept in memory as it was
last stored, and read again only if its version has changed: every step still asks for that, which
is how processes know of one another. A step that changes nothing writes nothing, and most
heartbeats are such steps: they are noted here, and written with the first that must be written.

A parked request looks again when it is woken, when something in the group falls due, and in any
case now and then: a lost wake-up costs only that delay. One whose client goes away is dropped; its
member stays and is expired like any other that falls silent, unless the client never learned the
member's id: nobody will come back for that one, and it leaves at once.
"""

import asyncio
import uuid
from collections import OrderedDict
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
    expire,
    pack,
    patterns_of,
    step,
    unpack,
)
from samsa.groups.classic import fresh_id
from samsa.log.background import Background
from samsa.log.stores import Stores
from samsa.ports import GroupItem, GroupKey, Groups, Misconfigured, Unavailable

from .known_topics import KnownTopics

LONGEST_WAIT_MS = 5_000
"""Between two looks of a parked request."""
REMEMBERED = 10_000
TRIES = 50
"""Lost races before a client is told to ask again. Each one means that somebody else went on."""


class Seat:
    """What a process has of one group: whose turn it is, the group as it was last stored, and whom
    it has heard since. What their heartbeats prolong is written with the next write."""

    __slots__ = ("group", "heard", "turn", "version")

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.version = 0
        self.group: Group | None = None
        self.heard: dict[str, int] = {}

    def keep(self, version: int, group: Group | None) -> None:
        self.version, self.group = version, group


class Coordinator:
    def __init__(
        self, stores: Stores, groups: Groups, settings: Settings, topics: KnownTopics
    ) -> None:
        self.groups = groups
        self.settings = settings
        self._stores = stores
        self._topics = topics
        self._seats: OrderedDict[str, Seat] = OrderedDict()
        self._background = Background()

    def ticket(self, group_id: str) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{group_id} {self._stores.nonce()}"))

    @property
    def waiter(self) -> str:
        """Where others wake the requests that are parked here."""
        return self._stores.wakeups.address

    async def ask(self, group_id: str, request: Request) -> Answer:
        """The answer, however long it takes. Raises Unavailable."""
        if not isinstance(request, Join | Sync):
            return await self._step(group_id, request)
        try:
            return await self._wait_for_answer(group_id, request)
        except asyncio.CancelledError:
            self._give_up(group_id, request)
            raise

    async def _wait_for_answer(self, group_id: str, request: Join | Sync) -> Answer:
        with self._stores.wakeups.subscribe([GroupKey(group_id)]) as woken:
            while True:
                answer = await self._step(group_id, request)
                if not isinstance(answer, Parked):
                    return answer
                request = answer.ask
                left = answer.deadline_ms - self._stores.clock.now_ms()
                await woken.wait(min(max(left, 1), LONGEST_WAIT_MS))

    def _give_up(self, group_id: str, request: Join | Sync) -> None:
        if isinstance(request, Join) and not request.member_id and request.instance_id is None:
            leave = Leave((Leaving(fresh_id(request)),))
            self._background.start(self._step(group_id, leave))

    async def look(self, group_id: str) -> tuple[Group | None, int]:
        """The group as it is now, and the version that is stored (0: there is none)."""
        group, version = await self._load(group_id, self._seat(group_id))
        if group is not None:
            group = expire(group, self._stores.clock.now_ms(), self.settings)
        return group, version

    async def tidy(self, group_id: str) -> tuple[Group | None, int]:
        """As `look`, and what was overdue is stored: nobody may have touched the group for long."""
        seat = self._seat(group_id)
        async with seat.turn:
            group, version = await self._load(group_id, seat)
            if group is None:
                return None, 0
            after = expire(group, self._stores.clock.now_ms(), self.settings)
            if after is not group:
                await self._store(group_id, seat, version, after)
            return after, seat.version

    async def _load(self, group_id: str, seat: Seat) -> tuple[Group | None, int]:
        group, version = seat.group, seat.version
        item = await self._stores.insist(self.groups.group, group_id, version)
        if item is None:
            group, version = None, 0
        elif item.version != version:
            group, version = unpack(item.state), item.version
        seat.keep(version, group)
        return group, version

    async def _step(self, group_id: str, request: Request) -> Answer:
        seat, clock = self._seat(group_id), self._stores.clock
        async with seat.turn:
            for _ in range(TRIES):
                group, version = await self._load(group_id, seat)
                asked = await self._informed(group, request)
                taken = step(group, asked, clock.now_ms(), self.settings, seat.heard)
                if taken.group is group:
                    _hear(seat, asked, taken.answer, clock.now_ms())
                    return taken.answer
                if await self._store(group_id, seat, version, taken.group):
                    if taken.wake:
                        self._stores.wakeups.wake(GroupKey(group_id), taken.wake)
                    return taken.answer
        raise Unavailable(f"group {group_id!r} changes too fast")

    async def _informed(self, group: Group | None, request: Request) -> Request:
        """Where the coordinator assigns, it must know the topics."""
        if isinstance(request, ConsumerHeartbeat) or (
            isinstance(request, Join) and isinstance(group, ConsumerGroup)
        ):
            now = self._stores.clock.now_ms()
            known = await self._stores.insist(self._topics.at, now, _subscribes(request))
            matches = known.matches(patterns_of(group, request))
            return request._replace(known=known.topics, matches=matches)
        return request

    async def _store(self, group_id: str, seat: Seat, before: int, after: Group | None) -> bool:
        assert after is not None
        item = GroupItem(before + 1 if before else self._first_version(), pack(after))
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

    def _seat(self, group_id: str) -> Seat:
        seat = self._seats.get(group_id)
        if seat is None:
            seat = self._seats[group_id] = Seat()
        self._seats.move_to_end(group_id)
        if len(self._seats) > REMEMBERED:
            self._seats.popitem(last=False)
        return seat

    async def drain(self) -> None:
        await self._background.drain()


def _subscribes(request: ConsumerHeartbeat | Join) -> bool:
    if isinstance(request, Join):
        return not request.again
    return request.topics is not None or request.pattern is not None


def _hear(seat: Seat, request: Request, answer: Answer, now_ms: int) -> None:
    if isinstance(request, Heartbeat | ConsumerHeartbeat) and getattr(answer, "error", 1) is None:
        seat.heard[request.member_id] = now_ms
