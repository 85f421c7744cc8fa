"""DescribeAcls (key 29).

Behaviour: there are no ACLs. Answers SECURITY_DISABLED, with the message of a Kafka without an
authorizer: tools such as MirrorMaker expect it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_acls import RESPONSE

if TYPE_CHECKING:
    from samsa.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


@handles(ApiKey.DESCRIBE_ACLS)
async def describe_acls(
    request: DescribeAclsRequest, context: Context, broker: Broker
) -> DescribeAclsResponse:
    return RESPONSE(
        error_code=ErrorCode.SECURITY_DISABLED,
        error_message="No Authorizer is configured on the broker",
    )
