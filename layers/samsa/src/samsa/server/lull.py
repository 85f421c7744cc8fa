"""Connections on which nothing but heartbeats comes, looked at together.

A consumer that has nothing to do sends a heartbeat every three seconds. To be woken by one costs
several times what it takes to answer it: the processor has forgotten the broker by then. With a
thousand such consumers that is most of what an idle broker does. So where many connections have
sent nothing else for a while, they wake nobody: twenty times a second all of them are looked at.
Whoever asks for anything else is watched like everybody again.
"""

import asyncio
import selectors
from typing import Protocol

LOOK_EVERY_S = 0.05
ENOUGH = 64
"""As long as there are fewer, looking would cost more than being woken."""
SLOW_S = 1.0
BEATS = 2


class Quiet(Protocol):
    """A connection that may be looked at now and then."""

    fd: int

    def readable(self) -> None: ...

    def watch_closely(self) -> None: ...


class Beats:
    """How long a connection has only beaten."""

    __slots__ = ("_last", "count")

    def __init__(self) -> None:
        self.count = 0
        self._last = 0.0

    def one_more(self, now: float) -> bool:
        """True once there were some in a row, and slowly."""
        self.count = self.count + 1 if now - self._last >= SLOW_S else 0
        self._last = now
        return self.count >= BEATS


class Lull:
    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._willing: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._selector.get_map())

    def join(self, quiet: Quiet) -> bool:
        """Whether it is looked at from now on, and need not be watched."""
        self._willing.add(quiet.fd)
        if len(self._willing) < ENOUGH or quiet.fd in self._selector.get_map():
            return False
        self._selector.register(quiet.fd, selectors.EVENT_READ, quiet)
        if self._timer is None:
            self._look_later()
        return True

    def leave(self, quiet: Quiet) -> bool:
        """Whether it was looked at, and has to be watched from now on."""
        self._willing.discard(quiet.fd)
        if quiet.fd not in self._selector.get_map():
            return False
        self._selector.unregister(quiet.fd)
        return True

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        self._timer = None
        for key, _ in self._selector.select(0):
            key.data.readable()
        if len(self._willing) < ENOUGH // 2:
            for key in list(self._selector.get_map().values()):
                key.data.watch_closely()
        if len(self):
            self._look_later()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
