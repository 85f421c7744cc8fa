"""For what becomes true a moment after it was asked for."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def eventually(ask: Callable[[], T], seconds: float = 20.0, pause: float = 0.05) -> T:
    """The first true answer; after the time is up, the last answer or error as it is."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        # Whatever goes wrong meanwhile, the last try shows it.
        with suppress(Exception):
            if answer := ask():
                return answer
        time.sleep(pause)
    return ask()
