"""SaslHandshake (key 17).

Behaviour: no listener has SASL. The answer is ILLEGAL_SASL_STATE and no mechanisms, as in Kafka on
a listener without SASL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.sasl_handshake import RESPONSE

if TYPE_CHECKING:
    from samsa.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


@handles(ApiKey.SASL_HANDSHAKE)
async def sasl_handshake(
    request: SaslHandshakeRequest, context: Context, broker: Broker
) -> SaslHandshakeResponse:
    return RESPONSE(error_code=ErrorCode.ILLEGAL_SASL_STATE)
