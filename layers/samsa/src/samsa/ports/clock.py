"""Time, handed in. A wall clock may be set back or ahead: no wait depends on it for longer than the
wait itself takes."""

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int: ...


def has_passed(now_ms: int, since_ms: int, length_ms: int) -> bool:
    """Whether so much time has passed since then. Yes, too, if `since_ms` lies further ahead than
    the length itself: the clock was set back, and what waits for it would wait as long as that."""
    return not -length_ms < now_ms - since_ms < length_ms
