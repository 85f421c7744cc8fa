"""FindCoordinator (key 10).

Behaviour: every process coordinates every group, so that the answer is a hint: groups are spread
over the nodes by rendezvous hashing (`nodes.py`), so that a group's members meet in one process. If
that is this one, it is named at the address that the client itself used. The first request for a
group's coordinator makes `__consumer_offsets`, as in Kafka: tools want to see it. There is a
coordinator of transactions too, which says that there are none, and that none can be begun
(InitProducerId). Share groups have none (INVALID_REQUEST).

Versions: 4+ ask for several keys at once.
"""

from contextlib import suppress
from typing import Any

from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.find_coordinator import COORDINATOR, RESPONSE

from .broker import Broker, Context, handles
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
    kind = request.key_type
    if context.version < FIRST_WITH_KEYS:
        return RESPONSE(**_found(kind, request.key, context, broker))
    keys = broker.work.pace(request.coordinator_keys)
    return RESPONSE(
        coordinators=[
            COORDINATOR(key=key, **_found(kind, key, context, broker)) async for key in keys
        ]
    )


def _found(key_type: int, key: str, context: Context, broker: Broker) -> dict[str, Any]:
    if key_type not in (GROUP, TRANSACTION):
        return {
            "node_id": NOBODY,
            "host": "",
            "port": NOBODY,
            "error_code": ErrorCode.INVALID_REQUEST,
            "error_message": f"there is no coordinator for keys of type {key_type}",
        }
    nodes = broker.nodes
    node = nodes.find(nodes.coordinator(key), context.address)
    return {"node_id": node.id, "host": node.host, "port": node.port, "error_message": None}
