"""DeleteGroups (key 42).

Behaviour: a group without members is deleted at once, with its offsets. Each group has its own
result. Needs DELETE on each group.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import UNAVAILABLE, code_of
from samsa.groups import may_delete
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_group
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import delete_groups as wire

TRIES = 5


@handles(ApiKey.DELETE_GROUPS)
async def delete_groups(
    request: wire.DeleteGroupsRequest, context: Context, broker: Broker
) -> wire.DeleteGroupsResponse:
    return wire.RESPONSE(
        results=[
            wire.GROUP(group_id=group_id, error_code=await _delete(group_id, context, broker))
            async for group_id in broker.work.pace(dict.fromkeys(request.groups_names))
        ]
    )


async def _delete(group_id: str, context: Context, broker: Broker) -> ErrorCode:
    if not may_group(context.access, Operation.DELETE, group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    try:
        for _ in range(TRIES):
            group, version = await broker.coordinator.look(group_id)
            now = broker.stores.clock.now_ms()
            if group is not None or not await broker.coordinator.groups.offsets(group_id, now):
                refused = may_delete(group, None, now)
                if refused:
                    return code_of(refused)
            if await broker.coordinator.groups.delete_group(group_id, version):
                return ErrorCode.NONE
    except Unavailable:
        return UNAVAILABLE
    return ErrorCode.NON_EMPTY_GROUP  # it changed before every try: the group is in use
