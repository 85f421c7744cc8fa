"""The event loop's clock, for what takes time within one request: it never goes back."""

import asyncio
from collections.abc import Callable


def loop_time() -> Callable[[], float]:
    return asyncio.get_running_loop().time
