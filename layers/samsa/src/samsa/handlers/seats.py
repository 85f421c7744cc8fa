"""What a process has of its groups, each in a seat: the group as it was last stored, whom it has
heard since, and the requests that wait for their turn.

Requests of one group take turns, and those that come together share one: they are stepped together,
stored with one write, and answered when that is done. So a hundred members that join at once are a
few writes, and never race each other.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from samsa.groups import Answer, Group, Packer, Request
from samsa.ports import Unavailable

REMEMBERED = 10_000

Serve = Callable[[Sequence[Request]], Awaitable[Sequence[Answer]]]


class Asked(NamedTuple):
    request: Request
    answer: "asyncio.Future[Answer]"


class Seat:
    __slots__ = ("group", "heard", "packer", "queue", "turns", "version")

    def __init__(self) -> None:
        self.version = 0
        self.group: Group | None = None
        self.heard: dict[str, int] = {}
        """What their heartbeats prolong is written with the next write."""
        self.packer = Packer()
        self.queue: list[Asked] = []
        self.turns = False
        """Whether somebody takes them."""

    def keep(self, version: int, group: Group | None) -> None:
        self.version, self.group = version, group

    def ask(self, request: Request) -> "asyncio.Future[Answer]":
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.queue.append(Asked(request, answer))
        return answer

    async def take_turns(self, serve: Serve) -> None:
        """Until nobody waits. Whoever asks meanwhile has the next turn."""
        try:
            while self.queue:
                turn = [asked for asked in self.queue if not asked.answer.done()]
                self.queue = []
                await _serve(turn, serve)
        finally:
            self.turns = False


async def _serve(turn: Sequence[Asked], serve: Serve) -> None:
    try:
        answers = await serve([asked.request for asked in turn])
    except Unavailable as error:
        _fail(turn, error)
    except Exception as error:
        # A request that nobody expected must not be its neighbours' failure.
        if len(turn) == 1:
            _fail(turn, error)
        else:
            for asked in turn:
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


class Seats(OrderedDict[str, Seat]):
    """By group id; the one that was needed last is kept longest."""

    def of(self, group_id: str) -> Seat:
        seat = self.get(group_id)
        if seat is None:
            seat = self[group_id] = Seat()
            if len(self) > REMEMBERED:
                self.popitem(last=False)
        self.move_to_end(group_id)
        return seat
