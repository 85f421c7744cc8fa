"""What is to be done later for many connections, with one timer for all of them."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

TICK_S = 0.01
"""The timer fires at most once in this time: a thousand delays that end one after the other cost a
hundred looks a second, not a thousand timers."""
K = TypeVar("K", bound=Hashable)


class Delays(Generic[K]):
    def __init__(self, ended: Callable[[K], None]) -> None:
        """`ended` is called with each key when its time is up."""
        self._ended = ended
        self._until: dict[K, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._until)

    @property
    def keys(self) -> list[K]:
        return list(self._until)

    def add(self, key: K, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        self._until[key] = until
        if self._timer is None or until + TICK_S < self._timer.when():
            self._fire_at(until)

    def drop(self, key: K) -> None:
        """Its time need not be waited for any more."""
        self._until.pop(key, None)

    def end_all(self) -> None:
        """As if the time of all were up."""
        for key in self.keys:
            self.drop(key)
            self._ended(key)

    def _fire_at(self, when: float) -> None:
        self.stop()
        self._timer = asyncio.get_running_loop().call_at(when, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        for key in [key for key, until in self._until.items() if until <= now]:
            self.drop(key)
            self._ended(key)
        if self._until and self._timer is None:
            self._fire_at(max(min(self._until.values()), now + TICK_S))

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
