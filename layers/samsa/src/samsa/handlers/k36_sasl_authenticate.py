"""SaslAuthenticate (key 36).

Behaviour: no listener has SASL. Answers ILLEGAL_SASL_STATE, with the message of a Kafka listener
without SASL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.sasl_authenticate import RESPONSE

if TYPE_CHECKING:
    from samsa.wire.messages.sasl_authenticate import (
        SaslAuthenticateRequest,
        SaslAuthenticateResponse,
    )


@handles(ApiKey.SASL_AUTHENTICATE)
async def sasl_authenticate(
    request: SaslAuthenticateRequest, context: Context, broker: Broker
) -> SaslAuthenticateResponse:
    return RESPONSE(
        error_code=ErrorCode.ILLEGAL_SASL_STATE,
        error_message="SaslAuthenticate request received after successful authentication",
    )
