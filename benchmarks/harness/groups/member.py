"""What members of both protocols have in common."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from harness.addresses import HOST
from harness.process import ToolFailed
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import find_coordinator

from .connection import Connection

FIND_COORDINATOR = 4
TRIES = 200
RETRY_S = 0.1
NOT_YET = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
}
"""Kafka makes the topic of its groups when the first one comes."""
SESSION_MS = 45_000
REBALANCE_MS = 300_000
"""Both are the defaults of Java's consumer."""

Partitions = frozenset[int]


class Member(ABC):
    """One member of one group, on a connection of its own. `live` is its life."""

    def __init__(self, group_id: str, topic: str, partitions: int, beat_s: float) -> None:
        self.group_id = group_id
        self.topic = topic
        self.partitions = partitions
        self.beat_s = beat_s
        self.phase = 0.0
        """Where in the interval its heartbeats are: members do not beat in step."""
        self.member_id = ""
        self.epoch = -1
        """Or the generation, as the classic protocol calls it: the one that it is in..."""
        self.holds: Partitions | None = None
        """...and its assignment of it, if it has that yet."""
        self.beats = 0
        """Heartbeats that were answered."""
        self.changed: Callable[[], None] = lambda: None
        self.connection: Connection

    async def connect(self, port: int) -> None:
        """The one broker is the coordinator of every group."""
        self.connection = await Connection.open(HOST, port)
        row = find_coordinator.REQUEST(coordinator_keys=[self.group_id])
        for _ in range(TRIES):
            answer = await self.connection.ask(ApiKey.FIND_COORDINATOR, FIND_COORDINATOR, row)
            found = answer.coordinators[0]
            if found.error_code == ErrorCode.NONE:
                return
            await asyncio.sleep(RETRY_S)
        raise ToolFailed(f"no coordinator: {ErrorCode(found.error_code).name}")

    @abstractmethod
    async def live(self) -> None:
        """Join, and stay until cancelled."""

    async def leave(self) -> None:
        await self.leave_together([self])

    @staticmethod
    @abstractmethod
    async def leave_together(members: Sequence["Member"]) -> None:
        """Of one group."""

    def hold(self, partitions: Partitions | None) -> None:
        self.holds = partitions
        self.changed()


def expect(code: int, what: str) -> None:
    if code != ErrorCode.NONE:
        raise ToolFailed(f"{what}: {ErrorCode(code).name}")


def dealt(partitions: int, members: int) -> list[range]:
    """To every member about as many, as in a game of cards."""
    return [range(seat, partitions, members) for seat in range(members)]
