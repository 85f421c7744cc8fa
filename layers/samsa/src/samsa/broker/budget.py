"""A memory budget that all requests, or all answers, share. `acquire` waits until there is room."""

import asyncio
from collections import deque


class Budget:
    def __init__(self, total: int) -> None:
        self.total = total
        self.left = total
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def contended(self) -> bool:
        return bool(self._waiting)

    async def acquire(self, size: int) -> None:
        """First come, first served, so that small requests do not starve a large one.

        A request for more than the total waits until the whole budget is free.
        """
        size = min(size, self.total)
        if not self._waiting and size <= self.left:
            self.left -= size
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release(size)
            raise

    def release(self, size: int) -> None:
        self.left += min(size, self.total)
        while self._waiting:
            wanted, turn = self._waiting[0]
            if turn.cancelled():
                self._waiting.popleft()
            elif wanted <= self.left:
                self._waiting.popleft()
                self.left -= wanted
                turn.set_result(None)
            else:
                return
