"""Whether a micro-batch waits for more offsets (`minOffsetsPerTrigger`, `maxTriggerDelay`)."""

from samsa.ports import Clock, has_passed


class TriggerDelay:
    """Holds a micro-batch back until there are `min_offsets`, for `max_ms` after the one before at
    most. The first one of a query is never held back: it may continue a query that was stopped."""

    def __init__(self, min_offsets: int, max_ms: int, clock: Clock) -> None:
        self._min_offsets, self._max_ms = min_offsets, max_ms
        self._clock = clock
        self._last_ms: int | None = None
        """When the micro-batch before began."""

    def holds(self, offsets: int) -> bool:
        """Whether the next micro-batch waits, with so many new offsets."""
        if offsets < self._min_offsets and self._waits():
            return True
        if offsets:
            self._last_ms = self._clock.now_ms()
        return False

    def _waits(self) -> bool:
        last_ms = self._last_ms
        return last_ms is not None and not has_passed(self._clock.now_ms(), last_ms, self._max_ms)
