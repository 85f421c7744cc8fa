"""A classic group as bytes. The first byte says what follows: see `stored`."""

import struct

from .classic_state import ClassicGroup, Member, Stage, State
from .packing import Texts, blob, read_blob
from .requests import Protocols

CLASSIC = 1
_GROUP = struct.Struct(">BBiqqq?qII")
_NAMES = Texts(3)
_PENDING = struct.Struct(">q")
_PENDING_ID = Texts(1)
_MEMBER = struct.Struct(">Biiq?H")
_MEMBER_TEXTS = Texts(6)
_PROTOCOL = Texts(1)


def pack(group: ClassicGroup) -> bytes:
    head = _GROUP.pack(
        CLASSIC,
        group.state,
        group.generation,
        group.changed_at_ms,
        group.phase_ends_ms,
        group.first_phase_ends_ms,
        group.newcomers,
        group.due_ms,
        len(group.pending),
        len(group.members),
    )
    parts = [head, _NAMES.pack(group.protocol_type, group.protocol, group.leader)]
    for member_id, lapses in group.pending.items():
        parts += (_PENDING.pack(lapses), _PENDING_ID.pack(member_id))
    for member_id, member in group.members.items():
        _pack_member(parts, member_id, member)
    return b"".join(parts)


def _pack_member(parts: list[bytes], member_id: str, member: Member) -> None:
    fixed = _MEMBER.pack(
        member.stage,
        member.session_timeout_ms,
        member.rebalance_timeout_ms,
        member.deadline_ms,
        member.is_new,
        len(member.protocols),
    )
    texts = _MEMBER_TEXTS.pack(
        member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.ticket,
        member.waiter,
    )
    parts += (fixed, texts, blob(member.assignment))
    for name, metadata in member.protocols:
        parts += (_PROTOCOL.pack(name), blob(metadata))


def unpack(data: bytes) -> ClassicGroup:
    _, state, generation, changed, phase, first, newcomers, due, waited, count = _GROUP.unpack_from(
        data
    )
    (protocol_type, protocol, leader), at = _NAMES.unpack(data, _GROUP.size)
    pending: dict[str, int] = {}
    for _ in range(waited):
        (lapses,) = _PENDING.unpack_from(data, at)
        (member_id,), at = _PENDING_ID.unpack(data, at + _PENDING.size)
        pending[member_id or ""] = lapses
    members: dict[str, Member] = {}
    for _ in range(count):
        at = _unpack_member(data, at, members)
    return ClassicGroup(
        State(state),
        generation,
        protocol_type,
        protocol,
        leader,
        members,
        pending,
        changed,
        phase,
        first,
        newcomers,
        due,
    )


_STAGES = tuple(Stage)


def _unpack_member(data: bytes, at: int, members: dict[str, Member]) -> int:
    stage, session, rebalance, deadline, is_new, offers = _MEMBER.unpack_from(data, at)
    texts, at = _MEMBER_TEXTS.unpack(data, at + _MEMBER.size)
    member_id, instance_id, client_id, client_host, ticket, waiter = texts
    assignment, at = read_blob(data, at)
    protocols: Protocols = ()
    for _ in range(offers):
        (name,), at = _PROTOCOL.unpack(data, at)
        metadata, at = read_blob(data, at)
        protocols += ((name or "", metadata),)
    members[member_id or ""] = Member(
        instance_id,
        client_id or "",
        client_host or "",
        session,
        rebalance,
        protocols,
        _STAGES[stage],
        deadline,
        is_new,
        ticket or "",
        waiter or "",
        assignment,
    )
    return at
