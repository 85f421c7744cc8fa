"""A group of the consumer protocol as bytes. Each topic id is written once, and has a number."""

import struct
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from .assignors import Partitions
from .consumer_state import ClassicSide, ConsumerGroup, ConsumerMember, MemberState
from .packing import CorruptGroup, Texts, blob, read_blob, read_texts, texts
from .requests import Protocols, TopicInfo

CONSUMER = 4
_GROUP = struct.Struct(">BiiqqqqIII")
_TOPIC = struct.Struct(">16sI")
_MEMBER = struct.Struct(">iiiBqq?")
_MEMBER_TEXTS = Texts(8)
_SIDE = struct.Struct(">iqq")
_RUN = struct.Struct(">II")
_COUNT = struct.Struct(">I")
_NO_PARTITIONS = _COUNT.pack(0)
_STATES = tuple(MemberState)


class _Ids(NamedTuple):
    """The topic ids of all partitions, and their numbers."""

    all: list[UUID]
    numbers: dict[UUID, int]


def pack(group: ConsumerGroup) -> bytes:
    ids = _collect(group)
    head = _GROUP.pack(
        CONSUMER,
        group.epoch,
        group.assignment_epoch,
        group.changed_at_ms,
        group.due_ms,
        group.topics_at_ms,
        group.written_at_ms,
        len(group.topics),
        len(group.matches),
        len(group.members),
    )
    parts = [head, _COUNT.pack(len(ids.all)), *(each.bytes for each in ids.all)]
    for name, info in group.topics.items():
        parts += (_TOPIC.pack(info.id.bytes, info.partitions), texts([name]))
    for pattern, found in group.matches.items():
        parts.append(texts([pattern, *found]))
    for member_id, member in group.members.items():
        _pack_member(parts, member_id, member, ids)
        parts.append(_pack_partitions(group.target(member_id), ids))
    return b"".join(parts)


def _collect(group: ConsumerGroup) -> _Ids:
    """Sorted, so that equal groups have equal bytes."""
    found = {topic for partitions in _all_partitions(group) for topic, _ in partitions}
    ordered = sorted(found, key=lambda topic: topic.int)
    return _Ids(ordered, {topic: number for number, topic in enumerate(ordered)})


def _all_partitions(group: ConsumerGroup) -> Iterable[Partitions]:
    for member_id, member in group.members.items():
        yield from (member.assigned, member.revoking, group.target(member_id))


def _pack_partitions(partitions: Partitions, ids: _Ids) -> bytes:
    if not partitions:
        return _NO_PARTITIONS
    numbered = [(ids.numbers[topic], partition) for topic, partition in partitions]
    flat = [number for which in sorted(numbered) for number in which]
    return _COUNT.pack(len(partitions)) + struct.pack(f">{len(flat)}I", *flat)


def _pack_member(parts: list[bytes], member_id: str, member: ConsumerMember, ids: _Ids) -> None:
    fixed = _MEMBER.pack(
        member.epoch,
        member.previous_epoch,
        member.rebalance_timeout_ms,
        member.state,
        member.session_ends_ms,
        member.revoke_by_ms,
        member.classic is not None,
    )
    named = _MEMBER_TEXTS.pack(
        member_id,
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.pattern,
        member.assignor,
        member.answered_by,
    )
    parts += (fixed, named, texts(member.topics))
    parts += (_pack_partitions(member.assigned, ids), _pack_partitions(member.revoking, ids))
    if member.classic:
        side = member.classic
        parts.append(_SIDE.pack(side.session_timeout_ms, side.join_by_ms, side.sync_by_ms))
        parts.append(texts([name for name, _ in side.protocols]))
        parts.extend(blob(metadata) for _, metadata in side.protocols)


def unpack(data: bytes) -> ConsumerGroup:
    (
        _,
        epoch,
        assignment_epoch,
        changed,
        due,
        looked,
        written,
        topics,
        patterns,
        members,
    ) = _GROUP.unpack_from(data)
    reader = _Reader(data, _GROUP.size)
    reader.read_ids()
    known = dict(reader.topic() for _ in range(topics))
    found = [reader.texts() for _ in range(patterns)]
    everyone: dict[str, ConsumerMember] = {}
    targets: dict[str, Partitions] = {}
    for _ in range(members):
        member_id, member = reader.member()
        everyone[member_id] = member
        target = reader.partitions()
        if target:
            targets[member_id] = target
    if reader.at != len(data):
        raise CorruptGroup(f"{len(data)} bytes, of which {reader.at} are told of")
    matches = {pattern: names for pattern, *names in found}
    return ConsumerGroup(
        epoch,
        assignment_epoch,
        everyone,
        targets,
        known,
        {pattern: tuple(names) for pattern, names in matches.items()},
        changed,
        due,
        looked,
        written,
    )


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at
        self.ids: list[UUID] = []

    def count(self) -> int:
        (count,) = _COUNT.unpack_from(self.data, self.at)
        self.at += _COUNT.size
        return int(count)

    def read_ids(self) -> None:
        start = self.at + _COUNT.size
        count = self.count()
        self.at = start + 16 * count
        self.ids = [UUID(bytes=self.data[at : at + 16]) for at in range(start, self.at, 16)]

    def texts(self) -> list[str]:
        found, self.at = read_texts(self.data, self.at)
        return found

    def topic(self) -> tuple[str, TopicInfo]:
        topic_id, partitions = _TOPIC.unpack_from(self.data, self.at)
        self.at += _TOPIC.size
        (name,) = self.texts()
        return name, TopicInfo(UUID(bytes=topic_id), partitions)

    def partitions(self) -> Partitions:
        start = self.at + _COUNT.size
        count = self.count()
        self.at = start + _RUN.size * count
        run = self.data[start : self.at]
        ids = self.ids
        return frozenset([(ids[topic], partition) for topic, partition in _RUN.iter_unpack(run)])

    def member(self) -> tuple[str, ConsumerMember]:
        epoch, previous, rebalance, state, session, revoke_by, is_classic = _MEMBER.unpack_from(
            self.data, self.at
        )
        named, self.at = _MEMBER_TEXTS.unpack(self.data, self.at + _MEMBER.size)
        member_id, instance_id, rack_id, client_id, client_host, pattern, assignor, answered_by = (
            named
        )
        topics = tuple(self.texts())
        assigned, revoking = self.partitions(), self.partitions()
        return member_id or "", ConsumerMember(
            instance_id,
            rack_id,
            client_id or "",
            client_host or "",
            rebalance,
            topics,
            pattern or "",
            assignor,
            epoch,
            previous,
            _STATES[state],
            assigned,
            revoking,
            session,
            revoke_by,
            self._side() if is_classic else None,
            answered_by or "",
        )

    def _side(self) -> ClassicSide:
        session, join_by, sync_by = _SIDE.unpack_from(self.data, self.at)
        self.at += _SIDE.size
        protocols: Protocols = tuple((name, self._blob()) for name in self.texts())
        return ClassicSide(session, protocols, join_by, sync_by)

    def _blob(self) -> bytes:
        found, self.at = read_blob(self.data, self.at)
        return found
