"""AlterClientQuotas (key 49).

Behaviour: sets and removes quotas of users, client ids, both, addresses, and their defaults. Each
entity is checked on its own, as Kafka checks it, and changed as a whole or not at all; an entity
that is named again is ignored. Needs ALTER_CONFIGS on the cluster. More values than `--max-quotas`
are refused with POLICY_VIOLATION. Names of hosts, which Kafka looks up, are refused: an address is
given as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from samsa.access.admin import (
    TIMED_OUT,
    raise_if_too_long,
    raise_if_too_many,
    raise_unless_may_cluster,
    tell,
)
from samsa.access.contents import ChangePlan, Contents
from samsa.access.entries import QuotaKey, quota_entry
from samsa.broker.broker import Broker, Context, handles
from samsa.ports import SecurityEntry, Unavailable
from samsa.security.kinds import Operation
from samsa.security.quotas import QuotaEntity, problem_with_entity, problem_with_quota
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import alter_client_quotas as wire

MOST_PARTS = 16
"""Of an entity that are looked at. There are three types, and two at most go together."""


class Values(NamedTuple):
    """What becomes of the quotas of one entity."""

    put: list[SecurityEntry]
    removed: list[SecurityEntry]


@handles(ApiKey.ALTER_CLIENT_QUOTAS)
async def alter_client_quotas(
    request: wire.AlterClientQuotasRequest, context: Context, broker: Broker
) -> wire.AlterClientQuotasResponse:
    try:
        raise_unless_may_cluster(context, Operation.ALTER_CONFIGS)
        return wire.RESPONSE(entries=await _alter(request, context, broker))
    except Refused as refused:
        why = refused
    except Unavailable:
        why = Refused(ErrorCode.REQUEST_TIMED_OUT, TIMED_OUT)
    rows = broker.work.pace(request.entries)
    return wire.RESPONSE(entries=[_result(_entity(row), why) async for row in rows])


async def _alter(
    request: wire.AlterClientQuotasRequest, context: Context, broker: Broker
) -> list[wire.EntryDataResponse]:
    view = broker.stored_access

    async def plan(contents: Contents) -> ChangePlan[dict[QuotaEntity, Refused | None]]:
        results: dict[QuotaEntity, Refused | None] = {}
        put: list[SecurityEntry] = []
        removed: list[SecurityEntry] = []
        async for row in broker.work.pace(request.entries):
            entity = _entity(row)
            if entity in results:
                results[entity] = _twice(entity)
                continue
            try:
                values = _values(entity, row, contents.quotas.get(entity, {}))
                total = len(contents.quota_values) + len(put) - len(removed)
                raise_if_too_many(total + len(values.put), broker.rules.max_quotas, "quotas")
            except Refused as refused:
                results[entity] = refused
                continue
            results[entity] = None
            put += values.put
            removed += values.removed
        return ChangePlan(results) if request.validate_only else ChangePlan(results, put, removed)

    results = await view.change(plan)
    for entity, why in results.items():
        if why is None and not request.validate_only:
            tell(view, context, "alter quota", entity)
    return [_result(entity, why) for entity, why in results.items()]


def _values(entity: QuotaEntity, row: wire.EntryData, present: Mapping[str, float]) -> Values:
    """Raises Refused."""
    problem = problem_with_entity(entity.parts)
    if problem is not None:
        raise Refused(ErrorCode.INVALID_REQUEST, problem)
    asked: dict[str, float | None] = {op.key: None if op.remove else op.value for op in row.ops}
    if len(asked) < len(row.ops):
        raise _twice(entity)
    values = Values([], [])
    for key, value in asked.items():
        if value is not None:
            _check(entity, key, value)
            if present.get(key) != value:
                values.put.append(quota_entry(QuotaKey(entity, key), value))
        elif key in present:
            values.removed.append(QuotaKey(entity, key).entry)
    return values


def _check(entity: QuotaEntity, key: str, value: float) -> None:
    """Raises Refused."""
    problem = problem_with_quota(entity, key, value)
    if problem is not None:
        raise Refused(ErrorCode.INVALID_REQUEST, problem)
    raise_if_too_long(quota_entry(QuotaKey(entity, key), value))


def _twice(entity: QuotaEntity) -> Refused:
    """Kafka says so too if it is a key of the entity that is named twice."""
    parts = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in entity.parts)
    problem = f"Ignoring duplicate entity ClientQuotaEntity(entries={{{parts}}})"
    return Refused(ErrorCode.INVALID_REQUEST, problem)


def _entity(row: wire.EntryData) -> QuotaEntity:
    parts = row.entity[:MOST_PARTS]
    return QuotaEntity.of({part.entity_type: part.entity_name for part in parts})


def _result(entity: QuotaEntity, why: Refused | None) -> wire.EntryDataResponse:
    return wire.ENTRY_RESPONSE(
        error_code=why.code if why else ErrorCode.NONE,
        error_message=why.message if why else None,
        entity=[
            wire.ENTITY_RESPONSE(entity_type=kind, entity_name=name) for kind, name in entity.parts
        ],
    )
