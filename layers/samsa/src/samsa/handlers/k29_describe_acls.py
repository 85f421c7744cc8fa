"""DescribeAcls (key 29).

Behaviour: the ACLs that a filter finds, by their pattern. They are those of the store, and not only
those that this process has heard of. Needs DESCRIBE on the cluster. Without ACLs the answer is
SECURITY_DISABLED, with the message of a Kafka without an authorizer: tools such as MirrorMaker
expect it. A filter with a kind that Kafka does not know ends the connection, as there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from samsa.access.acl_filters import find, read_filter
from samsa.access.admin import TIMED_OUT, acls_of, raise_unless_may_cluster
from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Unavailable
from samsa.security.acls import Acl
from samsa.security.kinds import Operation, PatternType, ResourceType
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_acls as wire

NO_AUTHORIZER = "No Authorizer is configured on the broker"


@handles(ApiKey.DESCRIBE_ACLS)
async def describe_acls(
    request: wire.DescribeAclsRequest, context: Context, broker: Broker
) -> wire.DescribeAclsResponse:
    try:
        view = acls_of(broker, NO_AUTHORIZER)
        wanted = read_filter(request)
        raise_unless_may_cluster(context, Operation.DESCRIBE)
        contents = await view.current()
    except Refused as refused:
        return wire.RESPONSE(error_code=refused.code, error_message=refused.message)
    except Unavailable:
        return wire.RESPONSE(error_code=ErrorCode.REQUEST_TIMED_OUT, error_message=TIMED_OUT)
    found = [acl async for acl in find(wanted, contents.acls, broker.work)]
    return wire.RESPONSE(resources=await _by_pattern(sorted(found), broker))


async def _by_pattern(acls: Iterable[Acl], broker: Broker) -> list[wire.DescribeAclsResource]:
    described: dict[tuple[ResourceType, PatternType, str], list[wire.AclDescription]] = defaultdict(
        list
    )
    async for acl in broker.work.pace(acls):
        described[acl.resource_type, acl.pattern_type, acl.name].append(_row(acl))
    return [
        wire.RESOURCE(resource_type=kind, pattern_type=pattern, resource_name=name, acls=rows)
        for (kind, pattern, name), rows in described.items()
    ]


def _row(acl: Acl) -> wire.AclDescription:
    return wire.ACL(
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
