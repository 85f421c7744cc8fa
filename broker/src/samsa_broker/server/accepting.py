"""Accepts connections from one listening socket, also when file descriptors run out.

A process that has no descriptor left cannot accept, and the socket stays readable: trying again and
again would take all of the event loop's time. So accepting pauses, for a second or until a
connection has ended. Clients wait in the socket's queue meanwhile.
"""

import asyncio
import logging
import resource
import socket
from collections.abc import Callable

from samsa.runtime.logs import Repeated

log = logging.getLogger("samsa.server")
AT_ONCE = 64
PAUSE_S = 1.0
RESERVE = 1024
"""Descriptors that are not for connections: objects that are read and written, stores, HTTP."""

Welcome = Callable[[socket.socket, tuple[str, int]], None]


class Acceptor:
    def __init__(self, listening: socket.socket, welcome: Welcome) -> None:
        self._listening = listening
        self._welcome = welcome
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._failures = Repeated(log, logging.ERROR, "cannot accept")
        self._loop.add_reader(listening.fileno(), self._accept)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                sock, address = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._failures.happened(why=error.strerror)
                self._stop_for_a_while()
                return
            self._welcome(sock, (str(address[0]), int(address[1])))

    def _stop_for_a_while(self) -> None:
        self._loop.remove_reader(self._listening.fileno())
        self._pause = self._loop.call_later(PAUSE_S, self.go_on)

    def go_on(self) -> None:
        """End the pause: after `PAUSE_S`, or when a connection has ended."""
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None
            self._loop.add_reader(self._listening.fileno(), self._accept)

    def close(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None
        else:
            self._loop.remove_reader(self._listening.fileno())
        self._listening.close()


def allow_many_files() -> None:
    """Raise the limit of open files: each connection, and each object that is sent, holds one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def most_connections(wanted: int) -> int:
    """`wanted`, or fewer, so that descriptors are left for the work of the connections."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(1, files - min(RESERVE, files // 2)))
