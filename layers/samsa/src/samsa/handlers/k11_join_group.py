"""JoinGroup (key 11).

Behaviour: answered when all members have joined, which may take as long as the rebalance timeout.
Until then the request is parked. The leader's answer lists all members, and the leader assigns.
Needs READ on the group.

Versions: 1+ have a rebalance timeout. 4+ are given a member id first and join again with it
(KIP-394). 5+ have static members (KIP-345). 9+ tell a leader when its group needs no assignment.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.broker.request_ports import RequestPorts
from samsa.coordinator.group_errors import UNAVAILABLE, code_of, is_group_id
from samsa.groups import Join, Joined
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_group, sees_topics
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import join_group as wire

MAX_PROTOCOLS = 100
"""Protocols of one member. Clients have one to three."""
FIRST_WITH_REQUIRED_ID = 4
FIRST_WITH_NULL_PROTOCOL = 7
FIRST_WITH_SKIP_ASSIGNMENT = 9


@handles(ApiKey.JOIN_GROUP)
async def join_group(
    request: wire.JoinGroupRequest, context: Context, broker: Broker
) -> wire.JoinGroupResponse:
    if not may_group(context.access, Operation.READ, request.group_id):
        return _refused(request, context, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not is_group_id(request.group_id):
        return _refused(request, context, ErrorCode.INVALID_GROUP_ID)
    if len(request.protocols) > MAX_PROTOCOLS:
        broker.work.refused["protocols"] += 1
        return _refused(request, context, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    ports = broker.ports_of(context)
    join = _join(request, context, ports, broker)
    try:
        if not broker.group_totals.knows(request.group_id):
            code = await broker.group_totals.why_not(request.group_id)
            if code:
                return _refused(request, context, code)
        joined = await broker.coordinator.ask(request.group_id, join, ports.wakeups)
    except Unavailable:
        return _refused(request, context, UNAVAILABLE)
    assert isinstance(joined, Joined)
    return _response(joined, context)


def _join(
    request: wire.JoinGroupRequest, context: Context, ports: RequestPorts, broker: Broker
) -> Join:
    return Join(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocols=tuple((each.name, bytes(each.metadata)) for each in request.protocols),
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        client_id=context.client_id or "",
        client_host=context.client_host,
        ticket=broker.coordinator.ticket(request.group_id, ports.nonce),
        waiter=ports.wakeups.address,
        requires_id=context.version >= FIRST_WITH_REQUIRED_ID,
        can_skip_assignment=context.version >= FIRST_WITH_SKIP_ASSIGNMENT,
        sees=sees_topics(context.access),
    )


def _refused(
    request: wire.JoinGroupRequest, context: Context, code: ErrorCode
) -> wire.JoinGroupResponse:
    return wire.RESPONSE(
        error_code=code, protocol_name=_name(None, context), member_id=request.member_id
    )


def _name(protocol: str | None, context: Context) -> str | None:
    return protocol if protocol or context.version >= FIRST_WITH_NULL_PROTOCOL else ""


def _response(joined: Joined, context: Context) -> wire.JoinGroupResponse:
    return wire.RESPONSE(
        error_code=code_of(joined.error),
        generation_id=joined.generation,
        protocol_type=joined.protocol_type,
        protocol_name=_name(joined.protocol, context),
        leader=joined.leader,
        skip_assignment=joined.skip_assignment,
        member_id=joined.member_id,
        members=[
            wire.MEMBER(member_id=each, group_instance_id=instance, metadata=metadata)
            for each, instance, metadata in joined.members
        ],
    )
