"""The events. A task is a generator: it yields the time at which it wants to go on."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from heapq import heappop, heappush
from math import inf

Task = Generator[float, None, None]
NEVER = inf
"""Yielded by a task that another task will wake."""


class Loop:
    def __init__(self) -> None:
        self.now = 0.0
        self.current: Task | None = None
        self._queue: list[tuple[float, int, Task]] = []
        self._count = 0

    def start(self, task: Task, at: float = 0.0) -> None:
        self._count += 1
        heappush(self._queue, (max(at, self.now), self._count, task))

    def run(self, until: float) -> None:
        while self._queue and self._queue[0][0] <= until:
            self.now, _, task = heappop(self._queue)
            self.current = task
            for at in task:
                if at > self.now:
                    if at < NEVER:
                        self.start(task, at)
                    break
        self.now = until


class Pool:
    """So many at a time; others wait in order."""

    def __init__(self, loop: Loop, places: float) -> None:
        self.places = places
        self.busy = 0
        self.busy_s = 0.0
        self._loop = loop
        self._since = 0.0
        self._waiting: deque[Task] = deque()

    def enter(self) -> float:
        """To be yielded: on return the place is had."""
        if self.busy < self.places:
            self.count(1)
            return self._loop.now
        assert self._loop.current is not None
        self._waiting.append(self._loop.current)
        return NEVER

    def leave(self) -> None:
        if self._waiting:
            self._loop.start(self._waiting.popleft())
        else:
            self.count(-1)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def begin(self) -> None:
        self.count()
        self.busy_s = 0.0

    def count(self, change: int = 0) -> None:
        now = self._loop.now
        self.busy_s += self.busy * (now - self._since)
        self._since = now
        self.busy += change
