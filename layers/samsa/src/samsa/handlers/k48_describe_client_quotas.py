"""DescribeClientQuotas (key 48).

Behaviour: the quotas of the store whose entities a filter finds. A strict filter finds entities of
just its types; one without components finds all. It is checked as in Kafka, up to its first error.
Needs DESCRIBE_CONFIGS on the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from samsa.access.admin import TIMED_OUT, raise_unless_may_cluster
from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.security.quotas import CLIENT_ID, IP, USER, QuotaEntity
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_client_quotas as wire


class Match(IntEnum):
    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2


@handles(ApiKey.DESCRIBE_CLIENT_QUOTAS)
async def describe_client_quotas(
    request: wire.DescribeClientQuotasRequest, context: Context, broker: Broker
) -> wire.DescribeClientQuotasResponse:
    try:
        raise_unless_may_cluster(context, Operation.DESCRIBE_CONFIGS)
        _check(request.components)
        contents = await broker.stored_access.current()
    except Refused as refused:
        return wire.RESPONSE(error_code=refused.code, error_message=refused.message, entries=None)
    except Unavailable:
        code = ErrorCode.REQUEST_TIMED_OUT
        return wire.RESPONSE(error_code=code, error_message=TIMED_OUT, entries=None)
    entries = [
        _entry(entity, values)
        async for entity, values in broker.work.pace(sorted(contents.quotas.items(), key=_order))
        if _finds(request, entity)
    ]
    return wire.RESPONSE(error_message="", entries=entries)


def _order(described: tuple[QuotaEntity, Mapping[str, float]]) -> str:
    return repr(described[0])


def _finds(request: wire.DescribeClientQuotasRequest, entity: QuotaEntity) -> bool:
    names = dict(entity.parts)
    if request.strict and len(names) != len(request.components):
        return False
    return all(
        component.entity_type in names
        and (
            component.match_type == Match.SPECIFIED
            or names[component.entity_type] == component.match
        )
        for component in request.components
    )


def _entry(entity: QuotaEntity, values: Mapping[str, float]) -> wire.EntryData:
    return wire.ENTRY(
        entity=[wire.ENTITY(entity_type=kind, entity_name=name) for kind, name in entity.parts],
        values=[wire.VALUE(key=key, value=value) for key, value in sorted(values.items())],
    )


def _check(components: list[wire.ComponentData]) -> None:
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


def _check_match(component: wire.ComponentData) -> None:
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
