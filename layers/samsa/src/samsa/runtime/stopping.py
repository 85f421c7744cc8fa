"""The signals that stop a serving process."""

import asyncio
import signal


def told_to_stop() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set. From now on they do nothing else."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
