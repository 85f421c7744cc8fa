"""A classic group as bytes. The first byte is the kind of group: see `stored`.

Protocols and metadata are most of a group's bytes. They are written once for all members that have
the same.
"""

import struct
from collections.abc import Mapping
from functools import lru_cache

from .classic_state import ClassicGroup, ClassicMember, ClassicState, Stage
from .packing import CorruptGroup, Texts
from .requests import Protocols

CLASSIC = 3
_GROUP = struct.Struct(">BBiqqq?qqIII")
_NAMES = Texts(3)
_PENDING = struct.Struct(">q")
_PENDING_ID = Texts(1)
_MEMBER = struct.Struct(">Biiq?II7H")
_OFFER = struct.Struct(">I")
_PROTOCOL = struct.Struct(">II")
_NONE = 0xFFFF
REMEMBERED_IDS = 1_000
_STAGES = tuple(Stage)


class Packed:
    """Caches the bytes of members: a member that is still the same object is not packed again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[ClassicMember, bytes]] = {}

    def members(
        self, members: Mapping[str, ClassicMember], numbers: Mapping[Protocols, int]
    ) -> list[bytes]:
        """The bytes of each member, and the number of its protocols."""
        before, self._known = self._known, {}
        parts: list[bytes] = []
        for member_id, member in members.items():
            known = before.get(member_id)
            if known is None or known[0] is not member:
                known = (member, _pack_member(member_id, member))
            self._known[member_id] = known
            parts += (known[1], _OFFER.pack(numbers[member.protocols]))
        return parts


def pack(group: ClassicGroup, packed: Packed) -> bytes:
    offers = dict.fromkeys(member.protocols for member in group.members.values())
    head = _GROUP.pack(
        CLASSIC,
        group.state,
        group.generation,
        group.changed_at_ms,
        group.phase_ends_ms,
        group.first_phase_ends_ms,
        group.newcomers,
        group.due_ms,
        group.written_at_ms,
        len(group.pending),
        len(offers),
        len(group.members),
    )
    parts = [head, _NAMES.pack(group.protocol_type, group.protocol, group.leader)]
    for member_id, lapses in group.pending.items():
        parts += (_PENDING.pack(lapses), _pack_id(member_id))
    parts += map(_pack_offer, offers)
    numbers = {offer: number for number, offer in enumerate(offers)}
    parts += packed.members(group.members, numbers)
    return b"".join(parts)


_pack_id = lru_cache(REMEMBERED_IDS)(_PENDING_ID.pack)


def _pack_offer(protocols: Protocols) -> bytes:
    parts = [_OFFER.pack(len(protocols))]
    for name, metadata in protocols:
        named = name.encode()
        parts += (_PROTOCOL.pack(len(named), len(metadata)), named, metadata)
    return b"".join(parts)


def _pack_member(member_id: str, member: ClassicMember) -> bytes:
    """Written without helper functions for speed: this is most of the cost of a write."""
    instance, client, host = member.instance_id, member.client_id, member.client_host
    ticket, waiter, answered_by = member.ticket, member.waiter, member.answered_by
    texts = f"{member_id}{instance or ''}{client}{host}{ticket}{waiter}{answered_by}".encode()
    fixed = _MEMBER.pack(
        member.stage,
        member.session_timeout_ms,
        member.rebalance_timeout_ms,
        member.deadline_ms,
        member.is_new,
        len(member.assignment),
        len(texts),
        len(member_id),
        _NONE if instance is None else len(instance),
        len(client),
        len(host),
        len(ticket),
        len(waiter),
        len(answered_by),
    )
    return b"".join((fixed, texts, member.assignment))


def unpack(data: bytes) -> ClassicGroup:
    (
        _,
        state,
        generation,
        changed,
        phase,
        first,
        newcomers,
        due,
        written,
        waited,
        offered,
        count,
    ) = _GROUP.unpack_from(data)
    (protocol_type, protocol, leader), at = _NAMES.unpack(data, _GROUP.size)
    pending: dict[str, int] = {}
    for _ in range(waited):
        (lapses,) = _PENDING.unpack_from(data, at)
        (member_id,), at = _PENDING_ID.unpack(data, at + _PENDING.size)
        pending[member_id or ""] = lapses
    offers: list[Protocols] = []
    for _ in range(offered):
        at = _unpack_offer(data, at, offers)
    members: dict[str, ClassicMember] = {}
    for _ in range(count):
        at = _unpack_member(data, at, offers, members)
    if at != len(data):
        raise CorruptGroup(f"{len(data)} bytes, of which {at} are told of")
    return ClassicGroup(
        ClassicState(state),
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
        written,
    )


def _unpack_offer(data: bytes, at: int, offers: list[Protocols]) -> int:
    (count,) = _OFFER.unpack_from(data, at)
    at += _OFFER.size
    protocols: list[tuple[str, bytes]] = []
    for _ in range(count):
        named, length = _PROTOCOL.unpack_from(data, at)
        start = at + _PROTOCOL.size + named
        at = start + length
        protocols.append((data[start - named : start].decode(), data[start:at]))
    offers.append(tuple(protocols))
    return at


def _unpack_member(
    data: bytes, at: int, offers: list[Protocols], members: dict[str, ClassicMember]
) -> int:
    (
        stage,
        session,
        rebalance,
        deadline,
        is_new,
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
    answered_by = waiter + lengths[5]
    at += assigned
    assignment = data[at - assigned : at]
    (offer,) = _OFFER.unpack_from(data, at)
    members[member_id] = ClassicMember(
        instance_id,
        texts[rest:host],
        texts[host:ticket],
        session,
        rebalance,
        offers[offer],
        _STAGES[stage],
        deadline,
        is_new,
        texts[ticket:waiter],
        texts[waiter:answered_by],
        assignment,
        texts[answered_by : answered_by + lengths[6]],
    )
    return at + _OFFER.size
