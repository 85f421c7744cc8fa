"""Heartbeat (key 12).

Behaviour: keeps a member's session alive, and tells it to join again while its group rebalances.
At most one read and one write; mostly one read.
"""

from typing import Any

from samsa.groups import Beaten, Heartbeat
from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.heartbeat import RESPONSE

from .broker import Broker, Context, handles
from .group_errors import UNAVAILABLE, code_of, is_group_id


@handles(ApiKey.HEARTBEAT)
async def heartbeat(request: Any, context: Context, broker: Broker) -> Any:
    if not is_group_id(request.group_id):
        return RESPONSE(error_code=ErrorCode.INVALID_GROUP_ID)
    beat = Heartbeat(request.member_id, request.generation_id, request.group_instance_id)
    try:
        beaten = await broker.coordinator.ask(request.group_id, beat)
    except Unavailable:
        return RESPONSE(error_code=UNAVAILABLE)
    assert isinstance(beaten, Beaten)
    return RESPONSE(error_code=code_of(beaten.error))
