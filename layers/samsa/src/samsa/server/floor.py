"""The slowest that a client may send a request, or take an answer."""


class Floor:
    """One direction of a connection. In every stretch of `grace_s` seconds the client has to move
    `rate * grace_s` bytes, or come to the end of what it is at."""

    __slots__ = ("_at", "_moved", "_since")

    def __init__(self) -> None:
        self._at: int | None = None
        self._moved = 0
        self._since = 0.0

    def is_slow(self, now: float, at: int | None, moved: int, rate: float, grace_s: float) -> bool:
        """`at` is the frame that it is at, None if the client is not expected to do anything."""
        if at is not None and at == self._at:
            passed = now - self._since
            if passed < grace_s:
                return False
            if moved - self._moved < rate * passed:
                return True
        self._at, self._moved, self._since = at, moved, now
        return False
