"""SaslHandshake (key 17).

Behaviour: no listener has SASL. The answer is ILLEGAL_SASL_STATE and no mechanisms, as in Kafka on
a listener without SASL.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import sasl_handshake as wire


@handles(ApiKey.SASL_HANDSHAKE)
async def sasl_handshake(
    request: wire.SaslHandshakeRequest, context: Context, broker: Broker
) -> wire.SaslHandshakeResponse:
    return wire.RESPONSE(error_code=ErrorCode.ILLEGAL_SASL_STATE)
