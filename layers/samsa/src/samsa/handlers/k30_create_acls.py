"""CreateAcls (key 30).

Behaviour: there are no ACLs. Each creation answers SECURITY_DISABLED, with the message of a Kafka
without an authorizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.create_acls import RESPONSE, RESULT

if TYPE_CHECKING:
    from samsa.wire.messages.create_acls import CreateAclsRequest, CreateAclsResponse

NO_AUTHORIZER = "No Authorizer is configured."


@handles(ApiKey.CREATE_ACLS)
async def create_acls(
    request: CreateAclsRequest, context: Context, broker: Broker
) -> CreateAclsResponse:
    refused = RESULT(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
    return RESPONSE(results=[refused] * len(request.creations))
