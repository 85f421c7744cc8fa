"""The gateway function: API Gateway's WebSocket calls it for each connect, message, disconnect."""

import os
from typing import Any

from samsa.gateway import Gateway, Settings
from samsa.system import SystemClock, fresh_words

GATEWAY = Gateway(Settings.of(os.environ), SystemClock(), fresh_words())


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return GATEWAY.handle(event, context)
