"""Heartbeat (key 12).

Behaviour: keeps a member's session alive, and tells it to join again while its group rebalances.
At most one read and one write; usually one read. Needs READ on the group.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import UNAVAILABLE, code_of, is_group_id
from samsa.groups import Heartbeat, HeartbeatAnswer
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_group
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import heartbeat as wire


@handles(ApiKey.HEARTBEAT)
async def heartbeat(
    request: wire.HeartbeatRequest, context: Context, broker: Broker
) -> wire.HeartbeatResponse:
    if not may_group(context.access, Operation.READ, request.group_id):
        return wire.RESPONSE(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not is_group_id(request.group_id):
        return wire.RESPONSE(error_code=ErrorCode.INVALID_GROUP_ID)
    beat = Heartbeat(request.member_id, request.generation_id, request.group_instance_id)
    try:
        answer = await broker.coordinator.ask(request.group_id, beat)
    except Unavailable:
        return wire.RESPONSE(error_code=UNAVAILABLE)
    assert isinstance(answer, HeartbeatAnswer)
    return wire.RESPONSE(error_code=code_of(answer.error))
