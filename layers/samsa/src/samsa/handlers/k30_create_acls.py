"""CreateAcls (key 30).

Behaviour: each ACL is checked on its own, as Kafka checks it. Those that pass are stored, up to
ninety at a time as one change, and are in force here when the answer is sent. One that there is
already is no error. Needs ALTER on the cluster. More ACLs than `--max-acls` are refused with
POLICY_VIOLATION. Without ACLs each creation answers SECURITY_DISABLED, with the message of a Kafka
without an authorizer. A kind that Kafka does not know ends the connection, as there.
"""

from __future__ import annotations

from samsa.access.admin import (
    TIMED_OUT,
    acls_of,
    raise_if_too_long,
    raise_if_too_many,
    raise_unless_may_cluster,
    tell,
)
from samsa.access.contents import ChangePlan, Contents
from samsa.access.entries import acl_entry
from samsa.access.view import SecurityView
from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Unavailable
from samsa.security.acls import Acl, has_unknown, problem_with
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import DecodeError, ErrorCode
from samsa.wire.messages import create_acls as wire


@handles(ApiKey.CREATE_ACLS)
async def create_acls(
    request: wire.CreateAclsRequest, context: Context, broker: Broker
) -> wire.CreateAclsResponse:
    try:
        view = acls_of(broker)
        asked = [_acl(row) async for row in broker.work.pace(request.creations)]
        raise_unless_may_cluster(context, Operation.ALTER)
        return wire.RESPONSE(results=await _create(asked, context, broker, view))
    except Refused as refused:
        why = refused
    except Unavailable:
        why = Refused(ErrorCode.REQUEST_TIMED_OUT, TIMED_OUT)
    return wire.RESPONSE(results=[_refusal(why)] * len(request.creations))


async def _create(
    asked: list[Acl], context: Context, broker: Broker, view: SecurityView
) -> list[wire.AclCreationResult]:

    async def plan(
        contents: Contents,
    ) -> ChangePlan[tuple[list[wire.AclCreationResult], list[Acl]]]:
        results, added = [], dict.fromkeys(contents.acls)
        async for acl in broker.work.pace(asked):
            try:
                _check(acl)
                if acl not in added:
                    raise_if_too_many(len(added) + 1, broker.rules.max_acls, "ACLs")
                added.setdefault(acl)
                results.append(wire.RESULT())
            except Refused as refused:
                results.append(_refusal(refused))
        new = list(added)[len(contents.acls) :]
        return ChangePlan((results, new), [acl_entry(acl) for acl in new])

    results, new = await view.change(plan)
    for acl in new:
        tell(view, context, "create acl", acl)
    return results


def _check(acl: Acl) -> None:
    """Raises Refused."""
    problem = problem_with(acl)
    if problem is not None:
        raise Refused(ErrorCode.INVALID_REQUEST, problem)
    raise_if_too_long(acl_entry(acl))


def _acl(row: wire.AclCreation) -> Acl:
    acl = Acl(
        ResourceType(row.resource_type),
        PatternType(row.resource_pattern_type),
        row.resource_name,
        row.principal,
        row.host,
        Operation(row.operation),
        Permission(row.permission_type),
    )
    if has_unknown(acl):
        raise DecodeError("an ACL with unknown elements")
    return acl


def _refusal(refused: Refused) -> wire.AclCreationResult:
    return wire.RESULT(error_code=refused.code, error_message=refused.message)
