"""Polls connections that send only heartbeats, all of them together, twenty times a second.

An idle consumer sends a heartbeat every three seconds. Waking the broker for one costs several
times what its answer costs, because the processor's caches are cold by then. With a thousand such
consumers that is most of what an idle broker does. So when many connections have sent nothing else
for a while, the event loop stops watching them, and they are polled here. A connection that sends
any other request is watched by the event loop again.
"""

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any, Protocol

LOOK_EVERY_S = 0.05
ENOUGH = 64
"""With fewer connections, polling would cost more than waking."""
SLOW_S = 1.0
HEARTBEATS_IN_A_ROW = 2


class Quiet(Protocol):
    """A connection that may be polled."""

    fd: int

    def readable(self) -> None: ...

    def watch_closely(self) -> None: ...


class HeartbeatCount:
    """Counts the heartbeats that a connection has sent in a row."""

    __slots__ = ("_last", "count")

    def __init__(self) -> None:
        self.count = 0
        self._last = 0.0

    def one_more(self, now: float) -> bool:
        """True after `HEARTBEATS_IN_A_ROW` that came at least `SLOW_S` apart."""
        self.count = self.count + 1 if now - self._last >= SLOW_S else 0
        self._last = now
        return self.count >= HEARTBEATS_IN_A_ROW


class IdlePoller:
    def __init__(self) -> None:
        self._selector: selectors.BaseSelector | None = None
        """Made with the first connection that is polled: it takes a file descriptor."""
        self._willing: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._polled)

    @property
    def _polled(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._selector.get_map() if self._selector is not None else {}

    def join(self, quiet: Quiet) -> bool:
        """True if it is polled from now on: the event loop need not watch it."""
        self._willing.add(quiet.fd)
        if len(self._willing) < ENOUGH or quiet.fd in self._polled:
            return False
        if self._selector is None:
            self._selector = selectors.DefaultSelector()
        self._selector.register(quiet.fd, selectors.EVENT_READ, quiet)
        if self._timer is None:
            self._look_later()
        return True

    def leave(self, quiet: Quiet) -> bool:
        """True if it was polled: the event loop does not watch it yet."""
        self._willing.discard(quiet.fd)
        if self._selector is None or quiet.fd not in self._polled:
            return False
        self._selector.unregister(quiet.fd)
        return True

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._selector is None:
            return
        for key, _ in self._selector.select(0):
            key.data.readable()
        if len(self._willing) < ENOUGH // 2:
            for key in list(self._polled.values()):
                key.data.watch_closely()
        if len(self):
            self._look_later()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._selector is not None:
            self._selector.close()
            self._selector = None
