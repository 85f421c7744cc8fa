"""How a process that serves is told to end."""

import asyncio
import signal


def told_to_stop() -> asyncio.Event:
    """Set by SIGTERM and by SIGINT, which from now on do nothing else."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
