"""Memory for requests or for answers, in all: who wants more waits until there is room for it."""

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
        """In the order of asking, so that a large request is not starved by small ones.

        What is more than all there is waits until nobody holds anything.
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
