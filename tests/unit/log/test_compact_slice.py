"""What stays of neighbouring batches: every offset in some batch, and as few as possible."""

from unit.log.compacting import a_sieve, cleaned_all, keyed, newest_in, pairs_in

from samsa.log.compact_slice import MOST_OFFSETS
from samsa.records import filler, headers, is_filler, read_header

PRODUCER = {"producer_id": 7, "producer_epoch": 0}


def spans(data: bytes) -> list[tuple[int, int, int]]:
    """First offset, offset after the last, and records, of every batch."""
    return [(h.base_offset, h.next_offset, h.count) for _, h in headers(data)]


def test_batches_of_which_nothing_stays_leave_one_empty_batch():
    old = [keyed(n, (b"a", b"%d" % n)) for n in range(5)]
    log = [*old, keyed(5, (b"b", b"x")), keyed(6, (b"a", b"y"))]
    found = cleaned_all(log, a_sieve(newest_in(*log)))
    data = b"".join(found.parts)
    assert spans(data) == [(0, 5, 0), (5, 6, 1), (6, 7, 1)]
    assert is_filler(read_header(data))
    assert found.changed


def test_what_goes_at_the_end_leaves_its_offsets_too():
    log = [keyed(0, (b"a", b"x")), keyed(1, (b"b", b"1")), keyed(2, (b"b", b"2"))]
    found = cleaned_all(log, a_sieve({b"b": 99}))
    assert spans(b"".join(found.parts)) == [(0, 1, 1), (1, 3, 0)]


def test_a_slice_of_which_nothing_stays_is_one_empty_batch():
    log = [keyed(n, (b"a", b"x")) for n in range(3)]
    found = cleaned_all(log, a_sieve({b"a": 99}))
    assert spans(b"".join(found.parts)) == [(0, 3, 0)]
    assert found.placed == [(0, read_header(found.parts[0]))]


def test_fillers_become_one_with_what_goes_beside_them():
    log = [filler(0, 3, -1), keyed(3, (b"a", b"x")), filler(4, 2, -1), keyed(6, (b"a", b"y"))]
    found = cleaned_all(log, a_sieve(newest_in(*log)))
    assert spans(b"".join(found.parts)) == [(0, 6, 0), (6, 7, 1)]


def test_nothing_changes_if_nothing_has_to():
    log = [keyed(0, (b"a", b"x")), filler(1, 4, 55), keyed(5, (b"b", b"y"))]
    found = cleaned_all(log, a_sieve(newest_in(*log)))
    assert not found.changed
    assert b"".join(found.parts) == b"".join(log)


def test_a_slice_that_was_cleaned_does_not_change_again():
    log = [keyed(n, (b"%d" % (n % 4), None if n % 3 else b"x")) for n in range(20)]
    sieve = a_sieve(newest_in(*log))
    once = cleaned_all(log, sieve)
    again = cleaned_all([b"".join(once.parts)], sieve)
    assert once.changed
    assert not again.changed


def test_positions_are_where_the_batches_lie():
    log = [keyed(n, (b"%d" % (n % 2), b"x" * n), (b"z", b"")) for n in range(0, 12, 2)]
    found = cleaned_all(log, a_sieve(newest_in(*log)))
    assert found.placed == headers(b"".join(found.parts))


def test_headers_that_are_asked_for_stay_between_what_goes():
    log = [keyed(n, (b"a", b"x"), base_sequence=n, **PRODUCER) for n in range(4)]
    found = cleaned_all(log, a_sieve({b"a": 99}, asked_for={1, 3}))
    data = b"".join(found.parts)
    assert [(h.base_offset, h.producer_id, h.base_sequence) for _, h in headers(data)] == [
        (0, -1, -1),
        (1, 7, 1),
        (2, -1, -1),
        (3, 7, 3),
    ]
    assert pairs_in(data) == []


def test_a_gap_that_no_batch_can_take_is_two():
    log = [filler(0, MOST_OFFSETS, -1), filler(MOST_OFFSETS, 5, -1)]
    found = cleaned_all(log, a_sieve({}))
    assert spans(b"".join(found.parts)) == [(0, MOST_OFFSETS, 0), (MOST_OFFSETS, 2**31 + 4, 0)]
