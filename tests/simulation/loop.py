"""An event loop whose time passes only when nothing can run, and then at once."""

import asyncio
from typing import Any


class Stuck(Exception):
    """Everyone waits for something that can never happen."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Its own selector: there are no sockets here, so waiting for them means moving the clock."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = self
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise Stuck("nothing is left that could run")
        self._now += timeout
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        """There never are any."""

    def _write_to_self(self) -> None:
        """Nobody calls from another thread."""

    def bury(self) -> None:
        """Close it with all that was left hanging on it, and run none of that."""
        for task in asyncio.all_tasks(self):
            task._log_destroy_pending = False
            task.get_coro().close()
        self.close()
