"""DeleteAcls (key 31).

Behaviour: there are no ACLs. Each filter answers SECURITY_DISABLED, in the words of a Kafka without
an authorizer.
"""

from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.delete_acls import RESPONSE, RESULT

from .broker import Broker, Context, handles

NO_AUTHORIZER = "No Authorizer is configured."


@handles(ApiKey.DELETE_ACLS)
async def delete_acls(request: Any, context: Context, broker: Broker) -> Any:
    refused = RESULT(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
    return RESPONSE(filter_results=[refused] * len(request.filters))
