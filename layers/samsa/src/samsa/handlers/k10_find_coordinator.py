"""FindCoordinator (key 10).

Behaviour: any process can coordinate any group, so the answer is a hint. Groups are spread over the
nodes by rendezvous hashing (`nodes.py`), so that all members of a group use one process. If that is
this process, it is named by the address that the client used. The first request for a group's
coordinator creates `__consumer_offsets`, as in Kafka: tools expect it. There is a coordinator of
transactions too, which answers that there are none, and that none can begin (InitProducerId). Share
groups have no coordinator (INVALID_REQUEST). Needs DESCRIBE on each group or transactional id.

Versions: 4+ ask for several keys at once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.configs import Refused
from samsa.topics.permitted import may_group, may_transactional_id, refusal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import find_coordinator as wire

if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from samsa.security.access import Access

    class FoundCoordinator(TypedDict):
        node_id: int
        host: str
        port: int
        error_code: NotRequired[ErrorCode]
        error_message: str | None


GROUP, TRANSACTION = 0, 1
RESOURCES = {GROUP: ResourceType.GROUP, TRANSACTION: ResourceType.TRANSACTIONAL_ID}
NOBODY = -1
FIRST_WITH_KEYS = 4


@handles(ApiKey.FIND_COORDINATOR)
async def find_coordinator(
    request: wire.FindCoordinatorRequest, context: Context, broker: Broker
) -> wire.FindCoordinatorResponse:
    kind, access = request.key_type, context.access
    keys = request.coordinator_keys
    if context.version < FIRST_WITH_KEYS:
        keys = [request.key]
    may = dict.fromkeys(keys, True)
    if access.is_limited:
        may = {key: _may_find(kind, key, access) async for key in broker.work.pace(keys)}
    if kind == GROUP and any(may.values()):
        # No group depends on it: if it cannot be created now, the next request creates it.
        with suppress(Refused, Unavailable, TimeoutError):
            await broker.catalog.offsets_topic()
    if context.version < FIRST_WITH_KEYS:
        return wire.RESPONSE(**_found_if(may[request.key], kind, request.key, context, broker))
    return wire.RESPONSE(
        coordinators=[
            wire.COORDINATOR(key=key, **_found_if(may[key], kind, key, context, broker))
            async for key in broker.work.pace(keys)
        ]
    )


def _may_find(key_type: int, key: str, access: Access) -> bool:
    if key_type == GROUP:
        return may_group(access, Operation.DESCRIBE, key)
    if key_type == TRANSACTION:
        return may_transactional_id(access, Operation.DESCRIBE, key)
    return True  # there is nothing to be found


def _found_if(
    allowed: bool, key_type: int, key: str, context: Context, broker: Broker
) -> FoundCoordinator:
    if allowed:
        return _found(key_type, key, context, broker)
    refused = refusal(RESOURCES[key_type])
    return _nowhere(refused.code, refused.message)


def _nowhere(code: ErrorCode, why: str) -> FoundCoordinator:
    return {
        "node_id": NOBODY,
        "host": "",
        "port": NOBODY,
        "error_code": code,
        "error_message": why,
    }


def _found(key_type: int, key: str, context: Context, broker: Broker) -> FoundCoordinator:
    if key_type not in (GROUP, TRANSACTION):
        why = f"there is no coordinator for keys of type {key_type}"
        return _nowhere(ErrorCode.INVALID_REQUEST, why)
    nodes = broker.nodes
    node = nodes.find(nodes.coordinator(key), context.address)
    return {"node_id": node.id, "host": node.host, "port": node.port, "error_message": None}
