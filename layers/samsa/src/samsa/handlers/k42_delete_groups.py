"""DeleteGroups (key 42).

Behaviour: a group without members is deleted with its offsets, at once; each is answered on its
own.
"""

from typing import Any

from samsa.groups import may_delete
from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.delete_groups import GROUP, RESPONSE

from .broker import Broker, Context, handles
from .group_errors import UNAVAILABLE, code_of

TRIES = 5


@handles(ApiKey.DELETE_GROUPS)
async def delete_groups(request: Any, context: Context, broker: Broker) -> Any:
    return RESPONSE(
        results=[
            GROUP(group_id=group_id, error_code=await _delete(group_id, broker))
            async for group_id in broker.work.pace(dict.fromkeys(request.groups_names))
        ]
    )


async def _delete(group_id: str, broker: Broker) -> ErrorCode:
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
    return ErrorCode.NON_EMPTY_GROUP  # somebody uses it all the time
