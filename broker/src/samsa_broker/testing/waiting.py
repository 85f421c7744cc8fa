"""Wait for a condition, never for a time."""

import time
from collections.abc import Callable

from .errors import SamsaError

EVERY_S = 0.01


def wait_until(is_true: Callable[[], bool], timeout: float, why: Callable[[], str]) -> None:
    """Raises SamsaError with `why` when the time is up."""
    until = time.perf_counter() + timeout
    while not is_true():
        if time.perf_counter() >= until:
            raise SamsaError(f"after {timeout:g} s: {why()}")
        time.sleep(EVERY_S)
