"""The clock, passed in. A wall clock may be set back or ahead: this may delay a wait by at most its
own length."""

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int: ...


def has_passed(now_ms: int, since_ms: int, length_ms: int) -> bool:
    """Whether `length_ms` has passed since then. Also true if `since_ms` lies that much or more in
    the future: the clock was set back, and the wait would be longer by that."""
    return not -length_ms < now_ms - since_ms < length_ms
