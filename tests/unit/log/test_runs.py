"""Which extents a merge takes: from their sizes and places alone."""

from hypothesis import given as given_that
from hypothesis import strategies as st

from samsa.log.runs import AT_ONCE, GROWTH, Sizes, Span, adjoining, apart, settled, shared
from samsa.ports import Extent

SIZES = Sizes(segment=64_000)


def extents_of(*sizes: int) -> list[Extent]:
    """Each in an object of its own."""
    return [Extent(n, 1, size, 0, 0, f"k{n}") for n, size in enumerate(sizes)]


def pack(*sizes: int, key: str = "pack", base: int = 0) -> list[Extent]:
    """One behind the other in one object."""
    found, start = [], 0
    for number, size in enumerate(sizes):
        found.append(Extent(base + number, 1, size, 0, 0, key, start=start))
        start += size
    return found


def test_small_ones_at_the_end_are_merged_once_they_are_many():
    assert list(apart(extents_of(1_000, 1_000, 1_000), SIZES)) == []
    assert list(apart(extents_of(1_000, 1_000, 1_000, 1_000), SIZES)) == [Span(0, 4)]


def test_what_was_merged_is_left_alone_until_four_times_as_much_has_come():
    assert list(apart(extents_of(9_000, *[1_000] * 5), SIZES)) == [Span(1, 6)]
    assert list(apart(extents_of(9_000, *[1_000] * 26), SIZES)) == [Span(1, 27)]
    assert list(apart(extents_of(9_000, *[1_000] * 27), SIZES)) == [Span(0, 28)]


def test_what_lies_before_something_large_is_merged_however_little_it_is():
    assert list(apart(extents_of(9_000, 1_000, 32_000, 1_000), SIZES)) == [Span(0, 2)]


def test_one_alone_between_large_ones_stays():
    assert list(apart(extents_of(32_000, 1_000, 64_000), SIZES)) == []


def test_a_segment_is_not_larger_than_it_may_be():
    assert list(apart(extents_of(*[20_000] * 7), SIZES)) == [Span(0, 3), Span(3, 6)]


def test_a_run_has_no_more_offsets_than_its_marks_can_count():
    far = [Extent(n * 2**29, 2**29, 100, 0, 0, f"k{n}") for n in range(7)]
    assert list(apart(far, SIZES)) == [Span(0, 3), Span(3, 6)]


def test_what_lies_behind_one_another_is_joined():
    assert list(adjoining(pack(*[10] * 8), SIZES)) == [Span(0, 8)]


def test_what_lies_apart_is_not_joined():
    assert list(adjoining(extents_of(*[10] * 8), SIZES)) == []


def test_a_pack_that_has_ended_is_joined_to_its_end():
    extents = [*pack(900, 10), *pack(10, key="other", base=2)]
    assert list(adjoining(extents, SIZES)) == [Span(0, 2)]


def test_a_gap_in_a_pack_ends_a_run():
    first, second, third = pack(10, 10, 10)
    apart_now = [first, second._replace(start=11), third._replace(start=21)]
    assert list(adjoining(apart_now, SIZES)) == []
    assert list(adjoining([*apart_now, *extents_of(1)], SIZES)) == [Span(1, 3)]


def test_no_more_are_joined_at_once_than_a_step_may_take():
    spans = list(adjoining(pack(*[1] * (AT_ONCE + 10)), SIZES))
    assert spans == [Span(0, AT_ONCE), Span(AT_ONCE, AT_ONCE + 10)]


def test_up_to_the_last_large_one_nothing_is_left_to_do():
    assert settled(extents_of(10, 64_000, 10, 40_000, 10, 10), SIZES) == 4
    assert settled(extents_of(10, 10), SIZES) == 0


def test_what_was_stored_far_apart_in_time_is_kept_apart():
    extents = [e._replace(stored_at=e.base * 10) for e in extents_of(*[10] * 12)]
    assert list(apart(extents, SIZES._replace(span_ms=40))) == [Span(0, 5), Span(5, 10)]
    packed = [e._replace(stored_at=e.base * 10) for e in pack(*[10] * 12)]
    assert list(adjoining(packed, SIZES._replace(span_ms=40))) == [Span(0, 5), Span(5, 10)]


def rewritten(sizes: list[int], segment: int) -> tuple[list[int], int]:
    """Append one after the other and merge after each: what is left, and the bytes copied."""
    left: list[int] = []
    copied = 0
    for size in sizes:
        left.append(size)
        extents = extents_of(*left)
        for span in reversed(list(apart(extents, Sizes(segment)))):
            total = sum(left[span.first : span.last])
            copied += total
            left[span.first : span.last] = [total]
    return left, copied


@given_that(st.lists(st.integers(1, 3_000), max_size=150))
def test_no_byte_is_copied_often_and_nothing_is_lost(sizes: list[int]):
    segment = 64_000
    left, copied = rewritten(sizes, segment)
    assert sum(left) == sum(sizes)
    assert max(left, default=0) <= segment
    # A byte that is copied lands in something GROWTH times as large, but for the last time.
    assert copied <= sum(sizes) * 9


def test_a_long_log_of_small_appends_ends_up_in_few_pieces():
    left, copied = rewritten([100] * 2_000, 64_000)
    assert len(left) < 25
    assert copied <= 200_000 * (GROWTH + 3)


def in_windows(*stored_at: int) -> list[Extent]:
    return [
        Extent(n, 1, 1_000, 0, at, f"log/windows/{n}-1-w", start=28)
        for n, at in enumerate(stored_at)
    ]


def test_what_is_old_leaves_its_window_however_small_it_is():
    assert list(shared(in_windows(5), SIZES, before_ms=6)) == [Span(0, 1)]
    assert list(shared(in_windows(5, 5, 9), SIZES, before_ms=6)) == [Span(0, 2)]
    assert list(shared(in_windows(6), SIZES, before_ms=6)) == []
    assert list(shared(extents_of(1_000, 1_000), SIZES, before_ms=6)) == []


def test_what_leaves_windows_makes_no_segment_that_is_too_large():
    extents = in_windows(*[0] * 100)
    assert [s.last - s.first for s in shared(extents, SIZES, before_ms=1)] == [64, 36]


def test_nothing_is_settled_behind_what_is_to_leave_its_window():
    large = extents_of(64_000, 64_000)
    assert settled(large, SIZES) == 2
    assert settled([large[0], *in_windows(0)[:1], large[1]], SIZES) == 1
