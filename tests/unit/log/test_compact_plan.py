"""When a log is compacted, and how far."""

import pytest

from samsa.log.compact_plan import GROUP_BYTES, GROUP_EXTENTS, Compaction, Survey, groups
from samsa.ports import Extent

NOW = 1_000_000
LATER = 2**63 - 1
RULES = Compaction(active_ms=100)


def extent(base: int, size: int = 10, offsets: int = 10, age: int = 500, stamp: int = -1) -> Extent:
    return Extent(base, offsets, size, stamp, NOW - age, f"k{base}")


def surveyed(extents: list[Extent], cleaned: int = 0, rules: Compaction = RULES) -> Survey:
    found = Survey(cleaned, NOW, rules)
    for one in extents:
        if not found.add(one):
            break
    return found


def test_the_newest_end_is_left_alone():
    log = [extent(0), extent(10, age=101), extent(20, age=99), extent(30)]
    assert surveyed(log).end == 20
    assert not surveyed([extent(0, age=5)]).is_due(LATER)


def test_what_is_younger_than_its_lag_is_left_alone():
    rules = RULES._replace(min_lag_ms=1_000)
    log = [extent(0, stamp=NOW - 1_001), extent(10, stamp=NOW - 999)]
    assert surveyed(log, rules=rules).end == 10
    # Without a time of their own, records are as old as their place in the store.
    assert surveyed([extent(0, age=1_001), extent(10, age=999)], rules=rules).end == 10


def test_only_what_lies_below_the_stable_end_counts():
    log = [extent(0, size=40), extent(10, size=60), extent(20)]
    found = Survey(0, NOW, RULES, stable_end=15)
    assert [found.add(one) for one in log] == [True, True, False]
    assert (found.end, found.reach, found.dirty_bytes) == (15, 15, 40 + 30)
    assert not Survey(0, NOW, RULES, stable_end=10).add(log[1])


@pytest.mark.parametrize(("ratio", "due"), [(0.5, True), (0.6, False), (0.0, True), (1.0, False)])
def test_it_is_due_when_more_than_a_part_is_dirty(ratio, due):
    log = [extent(0, size=40), extent(10, size=60)]
    found = surveyed(log, cleaned=10, rules=RULES._replace(dirty_ratio=ratio))
    assert (found.clean_bytes, found.dirty_bytes) == (40, 60)
    assert found.is_due(LATER) is due


def test_a_log_that_was_never_cleaned_is_all_dirty():
    found = surveyed([extent(0), extent(10)], rules=RULES._replace(dirty_ratio=0.99))
    assert found.is_due(LATER)
    assert (found.start, found.end) == (0, 20)


def test_a_log_that_is_clean_is_not_due():
    found = surveyed([extent(0), extent(10)], cleaned=20, rules=RULES._replace(dirty_ratio=0))
    assert not found.is_due(0)


def test_what_is_young_does_not_count_as_dirty():
    found = surveyed([extent(0, size=10), extent(10, size=1000, age=1)], cleaned=10)
    assert not found.is_due(LATER)


def test_an_extent_that_is_clean_in_part_counts_in_part():
    found = surveyed([extent(0, size=100, offsets=100)], cleaned=80)
    assert (found.clean_bytes, found.dirty_bytes) == (80, 20)
    assert (found.start, found.end) == (80, 100)


def test_whoever_has_waited_too_long_is_due():
    rules = RULES._replace(dirty_ratio=1.0, max_lag_ms=5_000)
    found = surveyed([extent(0)], rules=rules)
    assert found.is_due(NOW - 5_001)
    assert not found.is_due(NOW - 5_000)


def test_what_retention_took_is_not_waited_for():
    found = surveyed([extent(50), extent(60)], cleaned=20)
    assert (found.start, found.end) == (50, 70)


def test_small_extents_are_rewritten_together():
    log = [extent(n) for n in range(0, 10 * GROUP_EXTENTS + 10, 10)]
    assert [len(group) for group in groups(log)] == [GROUP_EXTENTS, 1]
    assert [one for group in groups(log) for one in group] == log


def test_large_extents_are_rewritten_alone():
    log = [extent(0, GROUP_BYTES), extent(10, 5), extent(20, GROUP_BYTES - 5), extent(30, 1)]
    assert [[one.base for one in group] for group in groups(log)] == [[0], [10, 20], [30]]


def test_a_group_spans_no_more_offsets_than_an_extent_may():
    log = [extent(0, offsets=2**30), extent(2**30, offsets=2**30), extent(2**31)]
    assert [len(group) for group in groups(log)] == [1, 2]


def test_what_is_far_apart_in_time_is_rewritten_apart():
    log = [extent(n * 10, stamp=stamp) for n, stamp in enumerate([100, 150, 90, 300, 320])]
    assert [len(group) for group in groups(log, span_ms=60)] == [3, 2]
