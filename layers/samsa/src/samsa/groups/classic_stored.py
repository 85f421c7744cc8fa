"""A classic group as bytes. The first byte says what follows: see `stored`."""

import struct
from collections.abc import Mapping
from functools import lru_cache

from .classic_state import ClassicGroup, Member, Stage, State
from .packing import Corrupt, Texts

CLASSIC = 1
_GROUP = struct.Struct(">BBiqqq?qII")
_NAMES = Texts(3)
_PENDING = struct.Struct(">q")
_PENDING_ID = Texts(1)
_MEMBER = struct.Struct(">Biiq?HII6H")
_PROTOCOL = struct.Struct(">HI")
_NONE = 0xFFFF
REMEMBERED_IDS = 1_000
_STAGES = tuple(Stage)


class Packed:
    """The bytes of members: one that is the same object as before has the same bytes."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Member, bytes]] = {}

    def members(self, members: Mapping[str, Member]) -> list[bytes]:
        before, self._known = self._known, {}
        for member_id, member in members.items():
            known = before.get(member_id)
            if known is None or known[0] is not member:
                known = (member, _pack_member(member_id, member))
            self._known[member_id] = known
        return [packed for _, packed in self._known.values()]


def pack(group: ClassicGroup, packed: Packed) -> bytes:
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
        parts += (_PENDING.pack(lapses), _pack_id(member_id))
    parts += packed.members(group.members)
    return b"".join(parts)


_pack_id = lru_cache(REMEMBERED_IDS)(_PENDING_ID.pack)


def _pack_member(member_id: str, member: Member) -> bytes:
    """Written out at length: this is most of what a write costs."""
    instance, client, host = member.instance_id, member.client_id, member.client_host
    ticket, waiter = member.ticket, member.waiter
    texts = f"{member_id}{instance or ''}{client}{host}{ticket}{waiter}".encode()
    fixed = _MEMBER.pack(
        member.stage,
        member.session_timeout_ms,
        member.rebalance_timeout_ms,
        member.deadline_ms,
        member.is_new,
        len(member.protocols),
        len(member.assignment),
        len(texts),
        len(member_id),
        _NONE if instance is None else len(instance),
        len(client),
        len(host),
        len(ticket),
        len(waiter),
    )
    parts = [fixed, texts, member.assignment]
    for name, metadata in member.protocols:
        named = name.encode()
        parts += (_PROTOCOL.pack(len(named), len(metadata)), named, metadata)
    return b"".join(parts)


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
    if at != len(data):
        raise Corrupt(f"{len(data)} bytes, of which {at} are told of")
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


def _unpack_member(data: bytes, at: int, members: dict[str, Member]) -> int:
    (
        stage,
        session,
        rebalance,
        deadline,
        is_new,
        offers,
        assigned,
        size,
        *lengths,
    ) = _MEMBER.unpack_from(data, at)
    at += _MEMBER.size + size
    texts = data[at - size : at].decode()
    member_id, rest = texts[: lengths[0]], lengths[0]
    instance_id = None
    if lengths[1] != _NONE:
        instance_id = texts[rest : rest + lengths[1]]
        rest += lengths[1]
    host = rest + lengths[2]
    ticket = host + lengths[3]
    waiter = ticket + lengths[4]
    at += assigned
    assignment = data[at - assigned : at]
    protocols: list[tuple[str, bytes]] = []
    for _ in range(offers):
        named, length = _PROTOCOL.unpack_from(data, at)
        start = at + _PROTOCOL.size + named
        at = start + length
        protocols.append((data[start - named : start].decode(), data[start:at]))
    members[member_id] = Member(
        instance_id,
        texts[rest:host],
        texts[host:ticket],
        session,
        rebalance,
        tuple(protocols),
        _STAGES[stage],
        deadline,
        is_new,
        texts[ticket:waiter],
        texts[waiter : waiter + lengths[5]],
        assignment,
    )
    return at
