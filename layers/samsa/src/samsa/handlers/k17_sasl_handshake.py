"""SaslHandshake (key 17).

Behaviour: no listener has SASL. A client that begins with it is told so (ILLEGAL_SASL_STATE, and no
mechanisms), as Kafka does on a listener without SASL.
"""

from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.sasl_handshake import RESPONSE

from .broker import Broker, Context, handles


@handles(ApiKey.SASL_HANDSHAKE)
async def sasl_handshake(request: Any, context: Context, broker: Broker) -> Any:
    return RESPONSE(error_code=ErrorCode.ILLEGAL_SASL_STATE)
