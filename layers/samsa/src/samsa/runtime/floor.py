"""The lowest rate at which a client may send a request or receive a response."""


class Floor:
    """One direction of a connection. In every `grace_s` seconds the client must move
    `rate * grace_s` bytes, or finish the current frame."""

    __slots__ = ("_at", "_moved", "_since")

    def __init__(self) -> None:
        self._at: int | None = None
        self._moved = 0
        self._since = 0.0

    def is_slow(self, now: float, at: int | None, moved: int, rate: float, grace_s: float) -> bool:
        """`at` is the current frame, None if the client is not expected to send or receive."""
        if at is not None and at == self._at:
            passed = now - self._since
            if passed < grace_s:
                return False
            if moved - self._moved < rate * passed:
                return True
        self._at, self._moved, self._since = at, moved, now
        return False
