"""The coordinator's shell: it loads a group, lets the pure step work on it, stores the outcome by
compare-and-swap, wakes whoever may go on, and parks whoever must wait.

Any process may serve any group. In one process the requests of a group take turns, so that only
processes race; who loses steps again on what the winner left. A group is kept in memory as it was
last stored, and taken apart again only if the item has changed: every step still reads the item,
which is how processes know of one another, and a step that changes nothing writes nothing.

A parked request looks again when it is woken, when something in the group falls due, and in any
case now and then: a lost wake-up costs only that delay. One whose client goes away is dropped; its
member stays and is expired like any other that falls silent, unless the client never learned the
member's id: nobody will come back for that one, and it leaves at once.
"""

import asyncio
import uuid
from collections import OrderedDict

from samsa.groups import (
    Answer,
    ConsumerGroup,
    ConsumerHeartbeat,
    Group,
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
from samsa.ports import GroupItem, GroupKey, Groups, Unavailable

from .known_topics import KnownTopics

LONGEST_WAIT_MS = 5_000
"""Between two looks of a parked request."""
REMEMBERED = 10_000
TRIES = 50
"""Lost races before a client is told to ask again. Each one means that somebody else went on."""


class Seat:
    """What a process has of one group: whose turn it is, and the group as it was last stored."""

    __slots__ = ("_group", "_item", "turn")

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self._item: GroupItem | None = None
        self._group: Group | None = None

    def read(self, item: GroupItem | None) -> Group | None:
        # By its bytes too: a group that was deleted and made anew has low versions again.
        if item != self._item:
            self.keep(item, unpack(item.state) if item else None)
        return self._group

    def keep(self, item: GroupItem | None, group: Group | None) -> None:
        self._item, self._group = item, group


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
        item = await self._stores.insist(self.groups.group, group_id)
        group = self._seat(group_id).read(item)
        if group is not None:
            group = expire(group, self._stores.clock.now_ms(), self.settings)
        return group, item.version if item else 0

    async def tidy(self, group_id: str) -> tuple[Group | None, int]:
        """As `look`, and what was overdue is stored: nobody may have touched the group for long."""
        seat = self._seat(group_id)
        async with seat.turn:
            item = await self._stores.insist(self.groups.group, group_id)
            group = seat.read(item)
            if item is None or group is None:
                return None, 0
            after = expire(group, self._stores.clock.now_ms(), self.settings)
            if after is group or not await self._store(group_id, seat, item, after):
                return after, item.version
            return after, item.version + 1

    async def _step(self, group_id: str, request: Request) -> Answer:
        seat = self._seat(group_id)
        async with seat.turn:
            for _ in range(TRIES):
                item = await self._stores.insist(self.groups.group, group_id)
                group = seat.read(item)
                asked = await self._informed(group, request)
                taken = step(group, asked, self._stores.clock.now_ms(), self.settings)
                if taken.group is group or await self._store(group_id, seat, item, taken.group):
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

    async def _store(
        self, group_id: str, seat: Seat, before: GroupItem | None, after: Group | None
    ) -> bool:
        assert after is not None
        version = before.version if before else 0
        state = pack(after)
        stored = await self._stores.insist(self.groups.put_group, group_id, state, version)
        if stored:
            seat.keep(GroupItem(version + 1, state), after)
        return stored

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
