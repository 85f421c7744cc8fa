"""LeaveGroup (key 13).

Behaviour: the members are removed at once, and the others are told to join again. Needs READ on
the group.

Versions: 0-2 name one member. 3+ name several, each by its member id or by its instance id alone,
which is how administrators remove static members; each has its own result.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import UNAVAILABLE, code_of, is_group_id
from samsa.groups import Leave, Leaving, Left
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_group
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import leave_group as wire

FIRST_WITH_MEMBERS = 3


@handles(ApiKey.LEAVE_GROUP)
async def leave_group(
    request: wire.LeaveGroupRequest, context: Context, broker: Broker
) -> wire.LeaveGroupResponse:
    if not may_group(context.access, Operation.READ, request.group_id):
        return wire.RESPONSE(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not is_group_id(request.group_id):
        return wire.RESPONSE(error_code=ErrorCode.INVALID_GROUP_ID)
    several = context.version >= FIRST_WITH_MEMBERS
    try:
        left = await broker.coordinator.ask(request.group_id, _leave(request, several))
    except Unavailable:
        return wire.RESPONSE(error_code=UNAVAILABLE)
    assert isinstance(left, Left)
    return await _several(left, broker) if several else _one(left)


def _leave(request: wire.LeaveGroupRequest, several: bool) -> Leave:
    if not several:
        return Leave((Leaving(request.member_id),))
    return Leave(tuple(Leaving(m.member_id, m.group_instance_id) for m in request.members))


def _one(left: Left) -> wire.LeaveGroupResponse:
    return wire.RESPONSE(error_code=code_of(left.error or left.members[0].error))


async def _several(left: Left, broker: Broker) -> wire.LeaveGroupResponse:
    return wire.RESPONSE(
        error_code=code_of(left.error),
        members=[
            wire.MEMBER_RESPONSE(
                member_id=each, group_instance_id=instance, error_code=code_of(error)
            )
            async for each, instance, error in broker.work.pace(left.members)
        ],
    )
