"""DeleteAcls (key 31).

Behaviour: there are no ACLs. Each filter answers SECURITY_DISABLED, with the message of a Kafka
without an authorizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.delete_acls import RESPONSE, RESULT

if TYPE_CHECKING:
    from samsa.wire.messages.delete_acls import DeleteAclsRequest, DeleteAclsResponse

NO_AUTHORIZER = "No Authorizer is configured."


@handles(ApiKey.DELETE_ACLS)
async def delete_acls(
    request: DeleteAclsRequest, context: Context, broker: Broker
) -> DeleteAclsResponse:
    refused = RESULT(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
    return RESPONSE(filter_results=[refused] * len(request.filters))
