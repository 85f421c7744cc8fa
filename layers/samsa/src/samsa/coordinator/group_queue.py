"""One queue per group: the group as it was last stored, when its members were answered, and the
requests that wait for their turn.

Requests of one group take turns (group commit). Requests that wait at the same time share one turn:
they are stepped together, stored with one write, and answered when it is done. So a hundred members
that join at once cost a few writes, and never race each other.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import NamedTuple

from samsa.groups import Answer, Group, MemberHeartbeats, Packer, Request
from samsa.ports import Unavailable
from samsa.ports.bounds import LONGEST_GROUP_ID

REMEMBERED = 10_000
LOOKED_AT = 100

Serve = Callable[[Sequence[Request]], Awaitable[Sequence[Answer]]]


class Asked(NamedTuple):
    request: Request
    answer: "asyncio.Future[Answer]"


class GroupQueue:
    __slots__ = ("answered_ms", "group", "looked_at", "packer", "queue", "turns", "version")

    def __init__(self) -> None:
        self.version = 0
        self.group: Group | None = None
        self.answered_ms: dict[str, int] = {}
        """When members were last answered here. The next write prolongs their sessions."""
        self.looked_at = 0
        self.packer = Packer()
        self.queue: list[Asked] = []
        self.turns = False
        """Whether `take_turns` is running."""

    @property
    def is_empty(self) -> bool:
        return self.group is None and not self.queue and not self.turns

    def keep(self, version: int, group: Group | None) -> None:
        self.version, self.group = version, group

    def heartbeats(self, answered_by: str, now_ms: int) -> MemberHeartbeats:
        if now_ms < self.looked_at:
            # The clock was set back: no member was answered later than now.
            self.answered_ms = {each: min(at, now_ms) for each, at in self.answered_ms.items()}
        self.looked_at = now_ms
        return MemberHeartbeats(answered_by, self.answered_ms)

    def forget_the_gone(self) -> None:
        members = self.group.members if self.group else {}
        if len(self.answered_ms) > len(members):
            self.answered_ms = {
                each: at for each, at in self.answered_ms.items() if each in members
            }

    def ask(self, request: Request) -> "asyncio.Future[Answer]":
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.queue.append(Asked(request, answer))
        return answer

    async def take_turns(self, serve: Serve) -> None:
        """Serve until the queue is empty. Requests that come meanwhile share the next turn."""
        try:
            while self.queue:
                turn = [asked for asked in self.queue if not asked.answer.done()]
                self.queue = []
                await _serve(turn, serve)
                if self.queue:
                    await asyncio.sleep(0)  # a large group takes long: let other groups run
        finally:
            self.turns = False


async def _serve(turn: Sequence[Asked], serve: Serve) -> None:
    try:
        answers = await serve([asked.request for asked in turn])
    except Unavailable as error:
        _fail(turn, error)
    except Exception as error:
        # One bad request must not fail the other requests of its turn: serve each by itself.
        if len(turn) == 1:
            _fail(turn, error)
        else:
            for asked in turn:
                await asyncio.sleep(0)
                await _serve([asked], serve)
    except BaseException:
        for asked in turn:
            asked.answer.cancel()
        raise
    else:
        for asked, answer in zip(turn, answers, strict=True):
            if not asked.answer.done():
                asked.answer.set_result(answer)


def _fail(turn: Sequence[Asked], error: Exception) -> None:
    for asked in turn:
        if not asked.answer.done():
            asked.answer.set_exception(error)
            asked.answer.exception()  # mark it as seen: the connection that asked may be closed


class GroupQueues(OrderedDict[str, GroupQueue]):
    """By group id, least recently used first."""

    def of(self, group_id: str) -> GroupQueue:
        queue = self.get(group_id)
        if queue is None:
            queue = GroupQueue()
            if len(group_id) > LONGEST_GROUP_ID:
                return queue  # there is no such group
            if len(self) >= REMEMBERED:
                self._make_room()
            self[group_id] = queue
        self.move_to_end(group_id)
        return queue

    def _make_room(self) -> None:
        """Drop an empty queue if the newest ones have any, else the least recently used: requests
        for ten thousand groups that do not exist must not drop the heartbeats of a real group."""
        newest = islice(reversed(self.items()), LOOKED_AT)
        empty = (group_id for group_id, queue in newest if queue.is_empty)
        del self[next(empty, None) or next(iter(self))]
