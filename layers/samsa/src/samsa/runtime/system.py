"""The machine's clock and randomness. The start of a process passes them to all other code."""

import itertools
import secrets
import time
from collections.abc import Callable


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


def fresh_words() -> Callable[[], str]:
    """Words that no other process uses: a random one for this process, and a number."""
    process, numbers = secrets.token_hex(6), itertools.count()
    return lambda: f"{process}{next(numbers):x}"
