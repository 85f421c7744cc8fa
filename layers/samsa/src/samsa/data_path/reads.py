"""The reads of one Fetch: each partition's plan, and what they may take together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker
from samsa.broker.work import FEW
from samsa.log.read import OutOfRange, Plan
from samsa.ports import Partition, Piece, Topic, Unavailable, UnknownPartition
from samsa.topics.configs import Refused
from samsa.topics.permitted import Need
from samsa.topics.resolve import partition_in, topic_or_refusal
from samsa.wire.errors import ErrorCode

if TYPE_CHECKING:
    from samsa.wire.messages.fetch import FetchPartition, FetchTopic


class Room:
    """The bytes that all reads of one Fetch may take together. Reads that come when it is full get
    no records this time: clients ask for these partitions first in their next Fetch."""

    __slots__ = ("_most", "is_full", "taken")

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0
        self.is_full = False

    @property
    def left(self) -> int:
        return self._most - self.taken

    def take(self, plan: Plan, asked_for: int) -> None:
        """The room is full if it limited the plan, even if a few bytes are left. It then stays
        full, also for plans that were made at the same time."""
        if plan.leaves_more and asked_for >= self.left:
            self.is_full = True
        self.taken += plan.size
        if self.taken and self.left <= 0:
            self.is_full = True


class Read:
    """One partition of a Fetch: refused, or planned and then loaded."""

    __slots__ = (
        "committed",
        "entry",
        "log_start",
        "near",
        "partition",
        "pieces",
        "plan",
        "refused",
        "topic",
        "visible_end",
    )

    def __init__(
        self,
        topic: FetchTopic,
        entry: FetchPartition,
        where: Partition | Refused,
        committed: bool = False,
    ) -> None:
        self.topic = topic
        self.entry = entry
        self.partition = where if isinstance(where, Partition) else None
        self.refused = where if isinstance(where, Refused) else None
        self.plan: Plan | None = None
        self.pieces: list[Piece] = []
        self.log_start = -1
        self.visible_end = -1
        self.committed = committed
        """Whether the reader asks for read_committed."""
        self.near: int | None = None
        """Another node, where the client should read this partition instead."""

    def send_near(self, rack: str, broker: Broker) -> None:
        """Redirect the client to a node of its rack (KIP-392). Only if this node leads the
        partition and is not in that rack."""
        if self.partition is not None:
            self.near = broker.nodes.near(rack, self.partition)
        if self.near is not None:
            self.partition = None

    def refuse(self, why: Refused) -> None:
        self.plan, self.pieces, self.refused = None, [], why

    async def make_plan(self, room: Room, broker: Broker) -> None:
        if self.partition is None:
            return
        try:
            self.plan = await self._plan(self.partition, room, broker)
        except OutOfRange as out:
            self.log_start, self.visible_end = out.log_start, out.visible_end
            self.refuse(Refused(ErrorCode.OFFSET_OUT_OF_RANGE, str(out)))
        except UnknownPartition:
            broker.log.forget(self.partition)
            self.refuse(Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the topic was deleted"))
        except Unavailable as error:
            self.refuse(Refused(ErrorCode.KAFKA_STORAGE_ERROR, str(error)))
        else:
            self.refused = None

    async def _plan(self, partition: Partition, room: Room, broker: Broker) -> Plan:
        offset, asked_for = self.entry.fetch_offset, self.entry.partition_max_bytes
        if room.is_full:
            return await broker.log.outline(partition, offset, self.committed)
        most = min(asked_for, room.left)
        plan = await broker.log.plan(partition, offset, most, self.committed)
        room.take(plan, asked_for)
        return plan


async def resolve(
    topic: FetchTopic,
    by_id: bool,
    broker: Broker,
    committed: bool = False,
    need: Need | None = None,
) -> list[Read]:
    found: Topic | Refused | None
    key = topic.topic_id if by_id else topic.topic
    found = broker.catalog.remembered(key)
    if found is None:
        found = await topic_or_refusal(key, broker, ErrorCode.KAFKA_STORAGE_ERROR, need)
    elif need is not None:
        found = need.met(found)
    if len(topic.partitions) <= FEW:
        return [_read(topic, entry, found, committed) for entry in topic.partitions]
    entries = broker.work.pace(topic.partitions)
    return [_read(topic, entry, found, committed) async for entry in entries]


def _read(
    topic: FetchTopic, entry: FetchPartition, found: Topic | Refused, committed: bool
) -> Read:
    where: Partition | Refused
    try:
        where = partition_in(found, entry.partition, entry.current_leader_epoch)
    except Refused as refused:
        where = refused.with_traceback(None)
    return Read(topic, entry, where, committed)


def trim(reads: list[Read], most: int) -> None:
    """Cut the plans to `most` bytes in total; the first range is kept whatever its size."""
    taken = 0
    for read in reads:
        if read.plan is None:
            continue
        kept = []
        for piece in read.plan.ranges:
            if taken and taken + piece.length > most:
                break
            kept.append(piece)
            taken += piece.length
        read.plan = read.plan._replace(ranges=kept)
