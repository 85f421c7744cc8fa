"""The gateway function: API Gateway's WebSocket calls it for each connect, message, disconnect."""

import os
from typing import Any

from samsa.runtime.system import SystemClock, fresh_words
from samsa_websocket.gateway import Gateway, GatewaySettings

GATEWAY = Gateway(GatewaySettings.of(os.environ), SystemClock(), fresh_words())


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return GATEWAY.handle(event, context)
