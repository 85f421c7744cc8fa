"""FindCoordinator (key 10).

Behaviour: every process coordinates every group, so it is node 0 at the address that the client
itself used. The first request for a group's coordinator makes `__consumer_offsets`, as in Kafka:
tools want to see it. Node 0 answers for transactions too: that there are none, and that none can be
begun (InitProducerId). Share groups have no coordinator (INVALID_REQUEST).

Versions: 4+ ask for several keys at once.
"""

from contextlib import suppress
from typing import Any

from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.find_coordinator import COORDINATOR, RESPONSE

from .broker import NODE_ID, Broker, Context, handles
from .configs import Refused

GROUP, TRANSACTION = 0, 1
NOBODY = -1
FIRST_WITH_KEYS = 4


@handles(ApiKey.FIND_COORDINATOR)
async def find_coordinator(request: Any, context: Context, broker: Broker) -> Any:
    if request.key_type == GROUP:
        # No group depends on it: if it cannot be made now, the next one who asks makes it.
        with suppress(Refused, Unavailable, TimeoutError):
            await broker.catalog.offsets_topic()
    found = _found(request.key_type, context)
    if context.version < FIRST_WITH_KEYS:
        return RESPONSE(**found)
    keys = broker.work.pace(request.coordinator_keys)
    return RESPONSE(coordinators=[COORDINATOR(key=key, **found) async for key in keys])


def _found(key_type: int, context: Context) -> dict[str, Any]:
    if key_type not in (GROUP, TRANSACTION):
        return {
            "node_id": NOBODY,
            "host": "",
            "port": NOBODY,
            "error_code": ErrorCode.INVALID_REQUEST,
            "error_message": f"there is no coordinator for keys of type {key_type}",
        }
    host, port = context.address
    return {"node_id": NODE_ID, "host": host, "port": port, "error_message": None}
