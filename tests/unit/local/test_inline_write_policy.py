"""Slots are written in the event loop while the disk keeps up, and in threads when it does not."""

from samsa.local.files import INLINE_BYTES
from samsa.local.inline_write_policy import CAREFUL_S, LONG_S, QUICK_BYTES, InlineWritePolicy


class Clock:
    now = 128.0

    def __call__(self) -> float:
        return self.now


def test_a_disk_that_keeps_up_is_written_to_in_the_loop():
    clock = Clock()
    pace = InlineWritePolicy(clock)
    pace.wrote(clock.now - LONG_S / 2)
    assert pace.in_loop(QUICK_BYTES)
    assert not pace.in_loop(QUICK_BYTES + 1)


def test_after_a_slow_write_only_small_ones_stay_in_the_loop_for_a_while():
    clock = Clock()
    pace = InlineWritePolicy(clock)
    pace.wrote(clock.now - 2 * LONG_S)
    assert not pace.in_loop(INLINE_BYTES + 1)
    assert pace.in_loop(INLINE_BYTES)
    clock.now += CAREFUL_S
    assert pace.in_loop(QUICK_BYTES)
