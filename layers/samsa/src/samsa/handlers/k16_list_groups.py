"""ListGroups (key 16).

Behaviour: lists every group with members or offsets whose coordinator is this process: tools ask
each node, and some of them show a group as often as it is listed. States and types are compared
without regard to case, as in Kafka. Lists the groups on which the client has DESCRIBE, or all if it
has DESCRIBE on the cluster.

Versions: 4+ have the state and filter by it, 5+ the type.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import UNAVAILABLE
from samsa.groups import Listed, listed
from samsa.ports import Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.permitted import is_visible, may_quietly
from samsa.wire.apis import ApiKey
from samsa.wire.messages import list_groups as wire

ONLY_OFFSETS = Listed("Empty", "classic", "")


@handles(ApiKey.LIST_GROUPS)
async def list_groups(
    request: wire.ListGroupsRequest, context: Context, broker: Broker
) -> wire.ListGroupsResponse:
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    access = context.access
    sees_all = may_quietly(access, Operation.DESCRIBE)
    try:
        ids = await broker.stores.retry(broker.coordinator.groups.group_ids)
        own = [
            each
            async for each in broker.work.pace(ids)
            if (context.asks_all or broker.nodes.coordinates(each))
            and (sees_all or is_visible(access, Operation.DESCRIBE, ResourceType.GROUP, each))
        ]
        seen = [(each, await _listed(each, broker)) async for each in broker.work.pace(own)]
    except Unavailable:
        return wire.RESPONSE(error_code=UNAVAILABLE)
    return wire.RESPONSE(
        groups=[
            wire.GROUP(
                group_id=group_id,
                protocol_type=each.protocol_type,
                group_state=each.state,
                group_type=each.kind,
            )
            async for group_id, each in broker.work.pace(seen)
            if each
            and (not states or each.state.lower() in states)
            and (not types or each.kind.lower() in types)
        ]
    )


async def _listed(group_id: str, broker: Broker) -> Listed | None:
    group, _ = await broker.coordinator.look(group_id)
    now = broker.stores.clock.now_ms()
    if group is not None:
        return listed(group, now)
    return ONLY_OFFSETS if await broker.coordinator.groups.offsets(group_id, now) else None
