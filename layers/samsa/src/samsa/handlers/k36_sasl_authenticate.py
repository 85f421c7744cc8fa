"""SaslAuthenticate (key 36).

Behaviour: no listener has SASL: ILLEGAL_SASL_STATE, in the words of a Kafka listener without it.
"""

from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.sasl_authenticate import RESPONSE

from .broker import Broker, Context, handles


@handles(ApiKey.SASL_AUTHENTICATE)
async def sasl_authenticate(request: Any, context: Context, broker: Broker) -> Any:
    return RESPONSE(
        error_code=ErrorCode.ILLEGAL_SASL_STATE,
        error_message="SaslAuthenticate request received after successful authentication",
    )
