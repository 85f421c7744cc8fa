"""DeleteAcls (key 31).

Behaviour: deletes the ACLs that a filter finds, and answers with them; two filters of a request may
find the same. Up to ninety at a time are one change. Needs ALTER on the cluster. Without ACLs each
filter answers SECURITY_DISABLED, with the message of a Kafka without an authorizer. A filter with a
kind that Kafka does not know ends the connection, as there.
"""

from __future__ import annotations

from samsa.access.acl_filters import find, read_filter
from samsa.access.admin import TIMED_OUT, acls_of, raise_unless_may_cluster, tell
from samsa.access.contents import ChangePlan, Contents
from samsa.access.entries import acl_entry
from samsa.access.view import SecurityView
from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Unavailable
from samsa.security.acls import Acl, AclFilter
from samsa.security.kinds import Operation
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import delete_acls as wire

MOST_AT_ONCE = 10_000
"""ACLs that one request may delete, as in Kafka; counted once for each filter that finds them."""


@handles(ApiKey.DELETE_ACLS)
async def delete_acls(
    request: wire.DeleteAclsRequest, context: Context, broker: Broker
) -> wire.DeleteAclsResponse:
    try:
        view = acls_of(broker)
        filters = [read_filter(row) async for row in broker.work.pace(request.filters)]
        raise_unless_may_cluster(context, Operation.ALTER)
        return wire.RESPONSE(filter_results=await _delete(filters, context, broker, view))
    except Refused as refused:
        why = refused
    except Unavailable:
        why = Refused(ErrorCode.REQUEST_TIMED_OUT, TIMED_OUT)
    return wire.RESPONSE(filter_results=[_refusal(why)] * len(request.filters))


async def _delete(
    filters: list[AclFilter], context: Context, broker: Broker, view: SecurityView
) -> list[wire.DeleteAclsFilterResult]:
    async def plan(contents: Contents) -> ChangePlan[list[list[Acl]]]:
        found: list[list[Acl]] = []
        count = 0
        async for wanted in broker.work.pace(filters):
            found.append([acl async for acl in find(wanted, contents.acls, broker.work)])
            count += len(found[-1])
            if count > MOST_AT_ONCE:
                problem = (
                    f"Cannot remove more than {MOST_AT_ONCE} acls in a single delete operation."
                )
                raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, problem)
        gone = {acl for some in found for acl in some}
        return ChangePlan(found, (), [acl_entry(acl) for acl in sorted(gone)])

    found = await view.change(plan)
    for acl in sorted({acl for some in found for acl in some}):
        tell(view, context, "delete acl", acl)
    return [
        wire.RESULT(error_message=None, matching_acls=[_row(acl) for acl in sorted(some)])
        for some in found
    ]


def _row(acl: Acl) -> wire.DeleteAclsMatchingAcl:
    return wire.ACL(
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )


def _refusal(refused: Refused) -> wire.DeleteAclsFilterResult:
    return wire.RESULT(error_code=refused.code, error_message=refused.message)
