"""Who may come in, and what they may do: users, ACLs and quotas. A part that the sender may not see
is null, and `why` says so."""

from collections.abc import Awaitable
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from samsa.http_api.kafka_client import Asked, KafkaClient, check
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.security.scram import ScramMechanism
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    describe_acls,
    describe_client_quotas,
    describe_user_scram_credentials,
)

from .state import API, OnConsole, answer

router = APIRouter(prefix=API, include_in_schema=False)


@router.get("/security")
async def security(kafka: Asked, console: OnConsole) -> Response:
    told: dict[str, Any] = {"enabled": True}
    why: dict[str, str] = {}
    for name, asked in (
        ("users", _users(kafka)),
        ("acls", _acls(kafka)),
        ("quotas", _quotas(kafka)),
    ):
        told[name] = await _or_why(name, asked, why)
    if console.inside is not None:
        told["enabled"] = console.inside.has_security
    elif told["acls"] is None:
        told["enabled"] = why["acls"] != DISABLED
    return await answer(console, {**told, "why": why or None})


DISABLED = "ACLs: security disabled"


async def _or_why(name: str, asked: Awaitable[list[Any]], why: dict[str, str]) -> list[Any] | None:
    try:
        return await asked
    except Refused as refused:
        is_off = refused.code is ErrorCode.SECURITY_DISABLED
        why[name] = DISABLED if is_off and name == "acls" else refused.message
        return None


async def _users(kafka: KafkaClient) -> list[Any]:
    row = describe_user_scram_credentials.REQUEST(users=None)
    found = await kafka.ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, row)
    check(found.error_code, found.error_message, "users")
    return [
        {
            "name": each.user,
            "mechanisms": [ScramMechanism(one.mechanism).sasl_name for one in infos],
        }
        async for each in kafka.work.pace(found.results)
        if (infos := each.credential_infos)
    ]


async def _acls(kafka: KafkaClient) -> list[Any]:
    row = describe_acls.REQUEST(
        resource_type_filter=ResourceType.ANY,
        resource_name_filter=None,
        pattern_type_filter=PatternType.ANY,
        principal_filter=None,
        host_filter=None,
        operation=Operation.ANY,
        permission_type=Permission.ANY,
    )
    found = await kafka.ask(ApiKey.DESCRIBE_ACLS, row)
    check(found.error_code, found.error_message, "ACLs")
    return [
        _acl(resource, acl)
        async for resource in kafka.work.pace(found.resources)
        for acl in resource.acls
    ]


def _acl(resource: Any, acl: Any) -> dict[str, str]:
    return {
        "principal": acl.principal,
        "host": acl.host,
        "resource_type": ResourceType(resource.resource_type).name.lower(),
        "name": resource.resource_name,
        "pattern": PatternType(resource.pattern_type).name.lower(),
        "operation": Operation(acl.operation).name.lower(),
        "permission": Permission(acl.permission_type).name.lower(),
    }


async def _quotas(kafka: KafkaClient) -> list[Any]:
    row = describe_client_quotas.REQUEST(components=[])
    found = await kafka.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, row)
    check(found.error_code, found.error_message, "quotas")
    return [
        {
            "entity": {part.entity_type: part.entity_name for part in entry.entity},
            "values": {value.key: value.value for value in entry.values},
        }
        async for entry in kafka.work.pace(found.entries or ())
    ]
