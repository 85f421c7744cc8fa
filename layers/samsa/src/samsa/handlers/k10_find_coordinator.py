"""FindCoordinator (key 10).

Behaviour: any process can coordinate any group, so the answer is a hint. Groups are spread over the
nodes by rendezvous hashing (`nodes.py`), so that all members of a group use one process. If that is
this process, it is named by the address that the client used. The first request for a group's
coordinator creates `__consumer_offsets`, as in Kafka: tools expect it. There is a coordinator of
transactions too, which answers that there are none, and that none can begin (InitProducerId). Share
groups have no coordinator (INVALID_REQUEST).

Versions: 4+ ask for several keys at once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Unavailable
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.find_coordinator import COORDINATOR, RESPONSE

if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from samsa.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

    class Found(TypedDict):
        node_id: int
        host: str
        port: int
        error_code: NotRequired[ErrorCode]
        error_message: str | None


GROUP, TRANSACTION = 0, 1
NOBODY = -1
FIRST_WITH_KEYS = 4


@handles(ApiKey.FIND_COORDINATOR)
async def find_coordinator(
    request: FindCoordinatorRequest, context: Context, broker: Broker
) -> FindCoordinatorResponse:
    if request.key_type == GROUP:
        # No group depends on it: if it cannot be created now, the next request creates it.
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


def _found(key_type: int, key: str, context: Context, broker: Broker) -> Found:
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
