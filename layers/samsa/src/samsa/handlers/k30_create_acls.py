"""CreateAcls (key 30).

Behaviour: there are no ACLs. Each creation answers SECURITY_DISABLED, in the words of a Kafka
without an authorizer.
"""

from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.create_acls import RESPONSE, RESULT

from .broker import Broker, Context, handles

NO_AUTHORIZER = "No Authorizer is configured."


@handles(ApiKey.CREATE_ACLS)
async def create_acls(request: Any, context: Context, broker: Broker) -> Any:
    refused = RESULT(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
    return RESPONSE(results=[refused] * len(request.creations))
