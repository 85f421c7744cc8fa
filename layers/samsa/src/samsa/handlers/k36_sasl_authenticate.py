"""SaslAuthenticate (key 36).

Behaviour: no listener has SASL. Answers ILLEGAL_SASL_STATE, with the message of a Kafka listener
without SASL.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import sasl_authenticate as wire


@handles(ApiKey.SASL_AUTHENTICATE)
async def sasl_authenticate(
    request: wire.SaslAuthenticateRequest, context: Context, broker: Broker
) -> wire.SaslAuthenticateResponse:
    return wire.RESPONSE(
        error_code=ErrorCode.ILLEGAL_SASL_STATE,
        error_message="SaslAuthenticate request received after successful authentication",
    )
