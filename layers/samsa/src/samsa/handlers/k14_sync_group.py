"""SyncGroup (key 14).

Behaviour: the leader sends the assignments of all members. A follower's earlier sync is parked
until the leader has sent them, or until the group rebalances again. Needs READ on the group.

Versions: 5+ must name the protocol, and are refused if it is not the group's.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import UNAVAILABLE, code_of, is_group_id
from samsa.groups import Sync, Synced
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_group
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import sync_group as wire

FIRST_WITH_PROTOCOL = 5


def _protocol(request: wire.SyncGroupRequest) -> tuple[str | None, str | None]:
    return request.protocol_type, request.protocol_name


@handles(ApiKey.SYNC_GROUP)
async def sync_group(
    request: wire.SyncGroupRequest, context: Context, broker: Broker
) -> wire.SyncGroupResponse:
    if context.version >= FIRST_WITH_PROTOCOL and None in _protocol(request):
        return wire.RESPONSE(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not may_group(context.access, Operation.READ, request.group_id):
        return wire.RESPONSE(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not is_group_id(request.group_id):
        return wire.RESPONSE(error_code=ErrorCode.INVALID_GROUP_ID)
    wakeups = broker.ports_of(context).wakeups
    sync = Sync(
        member_id=request.member_id,
        generation=request.generation_id,
        instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol=request.protocol_name,
        assignments={each.member_id: bytes(each.assignment) for each in request.assignments},
        waiter=wakeups.address,
    )
    try:
        synced = await broker.coordinator.ask(request.group_id, sync, wakeups)
    except Unavailable:
        return wire.RESPONSE(error_code=UNAVAILABLE)
    assert isinstance(synced, Synced)
    return wire.RESPONSE(
        error_code=code_of(synced.error),
        protocol_type=synced.protocol_type,
        protocol_name=synced.protocol,
        assignment=synced.assignment,
    )
