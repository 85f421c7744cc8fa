"""Memory for requests that arrive, over all connections.

A connection is charged for the buffer that it fills, step by step as bytes arrive. Buffers of up to
16 KiB are free, so small requests never wait. A connection that wants more than is left waits, and
keeps what has arrived. So that half-arrived requests cannot block each other for ever, one of those
that wait has priority: its memory comes out of a reserve that is large enough for the largest
request. It keeps the priority until its request is handled, or until it is closed.

    total = priority reserve + what is left + what the others hold
                               (large buffers leave half of it to ordinary ones)
"""

import asyncio
from collections import deque
from dataclasses import dataclass

from .buffer import READ_AHEAD, capacity_for

ORDINARY = capacity_for(READ_AHEAD)
"""A buffer of this size holds what clients send by default."""


@dataclass(eq=False, slots=True)
class MemoryClaim:
    """What one connection holds."""

    size: int = 0
    first: bool = False
    """It has priority."""


@dataclass(slots=True)
class WaitingClaim:
    claim: MemoryClaim
    size: int
    turn: "asyncio.Future[None]"


class RequestMemory:
    def __init__(self, total: int, max_frame: int) -> None:
        self._reserve = capacity_for(max_frame)
        self.left = max(total - self._reserve, self._reserve)
        self._kept_for_ordinary = self.left // 2
        self._first: MemoryClaim | None = None
        self._waiting: deque[WaitingClaim] = deque()

    @property
    def contended(self) -> bool:
        return bool(self._waiting)

    def has_room(self, claim: MemoryClaim, size: int) -> bool:
        kept = 0 if size <= ORDINARY else self._kept_for_ordinary
        return claim.first or size - claim.size <= self.left - kept

    async def grow(self, claim: MemoryClaim, size: int) -> None:
        """Charge `size` in all. Waits until there is room."""
        if not self._waiting and self.has_room(claim, size):
            self._charge(claim, size)
            return
        wanted = WaitingClaim(claim, size, asyncio.get_running_loop().create_future())
        self._waiting.append(wanted)
        self._serve()
        try:
            await wanted.turn
        except asyncio.CancelledError:
            if wanted in self._waiting:
                self._waiting.remove(wanted)
            raise

    def shrink(self, claim: MemoryClaim, size: int = 0) -> None:
        """Charge only `size` from now on, and give the priority away."""
        if claim.first:
            claim.first, self._first = False, None
            self.left -= size
        else:
            self.left += claim.size - size
        claim.size = size
        self._serve()

    def _charge(self, claim: MemoryClaim, size: int) -> None:
        if not claim.first:
            self.left -= size - claim.size
        claim.size = size

    def _serve(self) -> None:
        """Grant memory in the order of asking; large buffers do not hold up ordinary ones."""
        if self._first is None and self._waiting:
            self._give_priority(self._waiting[0].claim)
        large_wait = ordinary_wait = False
        for wanted in list(self._waiting):
            is_large = wanted.size > ORDINARY
            held_up = large_wait if is_large else ordinary_wait
            if wanted.claim.first or (not held_up and self.has_room(wanted.claim, wanted.size)):
                self._waiting.remove(wanted)
                self._charge(wanted.claim, wanted.size)
                if not wanted.turn.done():
                    wanted.turn.set_result(None)
            elif is_large:
                large_wait = True
            else:
                ordinary_wait = True

    def _give_priority(self, claim: MemoryClaim) -> None:
        self._first = claim
        claim.first = True
        self.left += claim.size
