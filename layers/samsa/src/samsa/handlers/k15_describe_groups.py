"""DescribeGroups (key 15): groups of the classic protocol.

Behaviour: metadata and assignments are told while the group is stable. A group that only has
offsets is Empty.

Versions: up to 5 an unknown group is Dead, and that is no error; 6 says GROUP_ID_NOT_FOUND.
"""

from typing import Any

from samsa.groups import DEAD, Described, described
from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_groups import GROUP, MEMBER, RESPONSE

from .broker import Broker, Context, handles
from .group_errors import UNAVAILABLE

FIRST_WITH_NOT_FOUND = 6


@handles(ApiKey.DESCRIBE_GROUPS)
async def describe_groups(request: Any, context: Context, broker: Broker) -> Any:
    asked = dict.fromkeys(request.groups)
    return RESPONSE(
        groups=[await _group(each, context, broker) async for each in broker.work.pace(asked)]
    )


async def _group(group_id: str, context: Context, broker: Broker) -> Any:
    try:
        group, _ = await broker.coordinator.look(group_id)
        if group is None:
            return await _without_state(group_id, context, broker)
    except Unavailable:
        return GROUP(group_id=group_id, error_code=UNAVAILABLE, group_state=DEAD)
    seen = described(group, broker.stores.clock.now_ms())
    if seen is None:
        return _not_found(group_id, context, f"Group {group_id} is not a classic group.")
    return _shown(group_id, seen)


async def _without_state(group_id: str, context: Context, broker: Broker) -> Any:
    now = broker.stores.clock.now_ms()
    if await broker.coordinator.groups.offsets(group_id, now):
        return GROUP(group_id=group_id, group_state="Empty")
    return _not_found(group_id, context, f"Group {group_id} not found.")


def _not_found(group_id: str, context: Context, message: str) -> Any:
    if context.version < FIRST_WITH_NOT_FOUND:
        return GROUP(group_id=group_id, group_state=DEAD)
    return GROUP(
        group_id=group_id,
        group_state=DEAD,
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=message,
    )


def _shown(group_id: str, seen: Described) -> Any:
    return GROUP(
        group_id=group_id,
        group_state=seen.state,
        protocol_type=seen.protocol_type,
        protocol_data=seen.protocol,
        members=[
            MEMBER(
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
