"""DescribeAcls (key 29).

Behaviour: there are no ACLs. SECURITY_DISABLED, in the words of a Kafka without an authorizer:
tools such as MirrorMaker expect it.
"""

from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_acls import RESPONSE

from .broker import Broker, Context, handles


@handles(ApiKey.DESCRIBE_ACLS)
async def describe_acls(request: Any, context: Context, broker: Broker) -> Any:
    return RESPONSE(
        error_code=ErrorCode.SECURITY_DISABLED,
        error_message="No Authorizer is configured on the broker",
    )
