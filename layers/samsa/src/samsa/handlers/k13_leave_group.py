"""LeaveGroup (key 13).

Behaviour: the members are gone at once, and the others are told to join again.

Versions: 0-2 name one member. 3+ name several, each by its member id or by its instance id alone,
which is how administrators remove static members; each is answered on its own.
"""

from typing import Any

from samsa.groups import Leave, Leaving, Left
from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.leave_group import MEMBER_RESPONSE, RESPONSE

from .broker import Broker, Context, handles
from .group_errors import UNAVAILABLE, code_of, is_group_id

FIRST_WITH_MEMBERS = 3


@handles(ApiKey.LEAVE_GROUP)
async def leave_group(request: Any, context: Context, broker: Broker) -> Any:
    if not is_group_id(request.group_id):
        return RESPONSE(error_code=ErrorCode.INVALID_GROUP_ID)
    several = context.version >= FIRST_WITH_MEMBERS
    try:
        left = await broker.coordinator.ask(request.group_id, _leave(request, several))
    except Unavailable:
        return RESPONSE(error_code=UNAVAILABLE)
    assert isinstance(left, Left)
    return await _several(left, broker) if several else _one(left)


def _leave(request: Any, several: bool) -> Leave:
    if not several:
        return Leave((Leaving(request.member_id),))
    return Leave(tuple(Leaving(m.member_id, m.group_instance_id) for m in request.members))


def _one(left: Left) -> Any:
    return RESPONSE(error_code=code_of(left.error or left.members[0].error))


async def _several(left: Left, broker: Broker) -> Any:
    return RESPONSE(
        error_code=code_of(left.error),
        members=[
            MEMBER_RESPONSE(member_id=each, group_instance_id=instance, error_code=code_of(error))
            async for each, instance, error in broker.work.pace(left.members)
        ],
    )
