"""Connections of clients over their quotas: nothing is read from them until their time is up.

A socket that is not read does not tell that its client has gone. So all of them are asked together,
once a second.
"""

import asyncio
import select
from typing import TYPE_CHECKING

from .delays import Delays

if TYPE_CHECKING:
    from .connection import Connection

LOOK_EVERY_S = 1.0
GONE = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


class MutedConnections:
    def __init__(self) -> None:
        self._delays: Delays[Connection] = Delays(lambda connection: connection.unmute())
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._delays)

    def add(self, connection: "Connection", seconds: float) -> None:
        self._delays.add(connection, seconds)
        if self._timer is None:
            self._look_later()

    def drop(self, connection: "Connection") -> None:
        """It has ended."""
        self._delays.drop(connection)

    def release(self) -> None:
        """Let all go on. Those that are still over a quota are muted by their next request."""
        self._delays.end_all()

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        self._timer = None
        by_fd = {connection.fd: connection for connection in self._delays.keys}
        poll = select.poll()
        for fd in by_fd:
            poll.register(fd, GONE)
        for fd, _ in poll.poll(0):
            by_fd[fd].hung_up()
        if by_fd:
            self._look_later()

    def stop(self) -> None:
        self._delays.stop()
        if self._timer is not None:
            self._timer.cancel()
