"""DescribeClientQuotas (key 48).

Behaviour: there are no quotas, so nothing matches. A filter is checked as in Kafka, up to its first
error.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_client_quotas import RESPONSE

if TYPE_CHECKING:
    from samsa.wire.messages.describe_client_quotas import (
        ComponentData,
        DescribeClientQuotasRequest,
        DescribeClientQuotasResponse,
    )

USER, CLIENT_ID, IP = "user", "client-id", "ip"


class Match(IntEnum):
    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2


@handles(ApiKey.DESCRIBE_CLIENT_QUOTAS)
async def describe_client_quotas(
    request: DescribeClientQuotasRequest, context: Context, broker: Broker
) -> DescribeClientQuotasResponse:
    try:
        _check(request.components)
    except Refused as refused:
        return RESPONSE(error_code=refused.code, error_message=refused.message, entries=None)
    return RESPONSE(error_message="", entries=[])


def _check(components: list[ComponentData]) -> None:
    types: set[str] = set()
    for component in components:
        _check_type(component.entity_type, types)
        _check_match(component)
        types.add(component.entity_type)
    if IP in types and len(types) > 1:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "Invalid entity filter component combination. IP filter component should not be used "
            "with user or clientId filter component.",
        )


def _check_type(entity_type: str, before: set[str]) -> None:
    if not entity_type:
        raise Refused(ErrorCode.INVALID_REQUEST, "Invalid empty entity type.")
    if entity_type in before:
        problem = f"Entity type {entity_type} cannot appear more than once in the filter."
        raise Refused(ErrorCode.INVALID_REQUEST, problem)
    if entity_type not in (USER, CLIENT_ID, IP):
        raise Refused(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {entity_type}")


def _check_match(component: ComponentData) -> None:
    kind, match = component.match_type, component.match
    if kind not in set(Match):
        problem = f"Unknown match type {kind}"
    elif kind == Match.EXACT and match is None:
        problem = "Request specified MATCH_TYPE_EXACT, but set match string to null."
    elif kind != Match.EXACT and match is not None:
        name = Match(kind).name
        problem = f"Request specified MATCH_TYPE_{name}, but also specified a match string."
    else:
        return
    raise Refused(ErrorCode.INVALID_REQUEST, problem)
