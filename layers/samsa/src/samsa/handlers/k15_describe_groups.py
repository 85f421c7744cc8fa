"""DescribeGroups (key 15): groups of the classic protocol.

Behaviour: metadata and assignments are shown only while the group is stable. A group that only has
offsets is Empty. Needs DESCRIBE on each group.

Versions: up to 5 an unknown group is Dead, without an error; 6 answers GROUP_ID_NOT_FOUND.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import UNAVAILABLE
from samsa.groups import DEAD, Described, described
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_group, on_group
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_groups as wire

FIRST_WITH_NOT_FOUND = 6


@handles(ApiKey.DESCRIBE_GROUPS)
async def describe_groups(
    request: wire.DescribeGroupsRequest, context: Context, broker: Broker
) -> wire.DescribeGroupsResponse:
    asked = dict.fromkeys(request.groups)
    groups = [await _group(each, context, broker) async for each in broker.work.pace(asked)]
    if request.include_authorized_operations:
        async for group in broker.work.pace(groups):
            if not group.error_code:
                group.authorized_operations = on_group(context.access, group.group_id)
    return wire.RESPONSE(groups=groups)


async def _group(group_id: str, context: Context, broker: Broker) -> wire.DescribedGroup:
    if not may_group(context.access, Operation.DESCRIBE, group_id):
        return wire.GROUP(group_id=group_id, error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    try:
        group, _ = await broker.coordinator.look(group_id)
        if group is None:
            return await _without_state(group_id, context, broker)
    except Unavailable:
        return wire.GROUP(group_id=group_id, error_code=UNAVAILABLE, group_state=DEAD)
    seen = described(group, broker.stores.clock.now_ms())
    if seen is None:
        return _not_found(group_id, context, f"Group {group_id} is not a classic group.")
    return _shown(group_id, seen)


async def _without_state(group_id: str, context: Context, broker: Broker) -> wire.DescribedGroup:
    now = broker.stores.clock.now_ms()
    if await broker.coordinator.groups.offsets(group_id, now):
        return wire.GROUP(group_id=group_id, group_state="Empty")
    return _not_found(group_id, context, f"Group {group_id} not found.")


def _not_found(group_id: str, context: Context, message: str) -> wire.DescribedGroup:
    if context.version < FIRST_WITH_NOT_FOUND:
        return wire.GROUP(group_id=group_id, group_state=DEAD)
    return wire.GROUP(
        group_id=group_id,
        group_state=DEAD,
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=message,
    )


def _shown(group_id: str, seen: Described) -> wire.DescribedGroup:
    return wire.GROUP(
        group_id=group_id,
        group_state=seen.state,
        protocol_type=seen.protocol_type,
        protocol_data=seen.protocol,
        members=[
            wire.MEMBER(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata,
                member_assignment=member.assignment,
            )
            for member in seen.members
        ],
    )
