"""The gateway function: API Gateway's WebSocket calls it for each connect, message, disconnect."""

import itertools
import os
import secrets
import time
from collections.abc import Callable
from typing import Any

from samsa.gateway import Gateway, Settings


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


def fresh_words() -> Callable[[], str]:
    """Words that no other process will use: a random one for this process, and a number."""
    process, numbers = secrets.token_hex(6), itertools.count()
    return lambda: f"{process}{next(numbers):x}"


GATEWAY = Gateway(Settings.of(os.environ), SystemClock(), fresh_words())


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return GATEWAY.handle(event, context)
