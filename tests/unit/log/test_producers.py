import pytest
from hypothesis import given as given_that
from hypothesis import strategies as st
from unit.log.given import a_header

from samsa.log.producers import KEPT, Entry, ProducerDraft, ProducerState, Verdict, accept, judge
from samsa.ports import Bound

LAST = 2**31 - 1


def state_after(*firsts: int, epoch: int = 0, records: int = 1) -> ProducerState:
    """One batch after the other, each in a commit of its own."""
    state = ProducerState(epoch, ())
    for offset, first in enumerate(firsts):
        draft = ProducerDraft.of(state)
        draft.new.append(a_header(first, records, epoch))
        state = draft.state([0]).at(offset)
    return state


def verdict(state: ProducerState | None, first: int, records: int = 1, epoch: int = 0) -> Verdict:
    return judge(ProducerDraft.of(state), a_header(first, records, epoch))


def test_a_producer_that_nobody_knows_starts_at_zero():
    assert verdict(None, 0) is Verdict.NEXT
    assert verdict(None, 1) is Verdict.UNKNOWN


def test_the_next_sequence_follows_the_last_record_of_the_batch_before():
    state = state_after(0, 3, records=3)
    assert verdict(state, 6) is Verdict.NEXT
    assert verdict(state, 5) is Verdict.OUT_OF_ORDER
    assert verdict(state, 7) is Verdict.OUT_OF_ORDER


@pytest.mark.parametrize("first", [2, 3, 4, 5, 6])
def test_each_of_the_last_five_batches_is_known_again(first):
    assert verdict(state_after(*range(7)), first) is Verdict.DUPLICATE


def test_a_batch_before_the_last_five_is_out_of_order():
    assert verdict(state_after(*range(7)), 1) is Verdict.OUT_OF_ORDER


def test_a_batch_that_begins_like_one_before_and_ends_elsewhere_is_no_duplicate():
    assert verdict(state_after(0, records=3), 0, records=2) is Verdict.OUT_OF_ORDER


def test_after_the_largest_sequence_comes_zero():
    assert verdict(state_after(LAST), 0) is Verdict.NEXT
    assert verdict(state_after(LAST), LAST) is Verdict.DUPLICATE


def test_a_batch_may_reach_over_the_largest_sequence():
    over = a_header(LAST - 1, records=4)
    assert over.last_sequence == 1
    state = state_after(LAST - 1, records=4)
    assert verdict(state, 2) is Verdict.NEXT
    assert verdict(state, LAST - 1, records=4) is Verdict.DUPLICATE


def test_an_older_epoch_is_refused_whatever_its_sequence():
    state = state_after(0, epoch=3)
    assert verdict(state, 0, epoch=2) is Verdict.STALE_EPOCH
    assert verdict(state, 1, epoch=2) is Verdict.STALE_EPOCH


def test_a_newer_epoch_starts_at_zero_again():
    state = state_after(0, 1, epoch=3)
    assert verdict(state, 0, epoch=4) is Verdict.NEXT
    assert verdict(state, 2, epoch=4) is Verdict.OUT_OF_ORDER


def test_a_newer_epoch_forgets_the_batches_of_the_older():
    draft = accept(ProducerDraft.of(state_after(0, 1, epoch=3)), a_header(0, epoch=4))
    assert draft.state([0]).at(9) == ProducerState(4, (Entry(0, 0, 9),))


def test_batches_of_one_commit_follow_each_other():
    draft = accept(ProducerDraft.of(state_after(0)), a_header(1, records=2))
    assert judge(draft, a_header(3)) is Verdict.NEXT
    assert judge(draft, a_header(2)) is Verdict.OUT_OF_ORDER


def test_the_same_batch_twice_in_one_commit_waits():
    draft = accept(ProducerDraft.of(state_after(0)), a_header(1))
    assert judge(draft, a_header(1)) is Verdict.LATER


def test_a_newer_epoch_waits_for_the_older_that_shares_its_commit():
    draft = accept(ProducerDraft.of(state_after(0)), a_header(1))
    assert judge(draft, a_header(0, epoch=1)) is Verdict.LATER


def test_a_duplicate_of_a_commit_before_is_one_whatever_shares_its_commit():
    draft = accept(ProducerDraft.of(state_after(0)), a_header(1))
    assert judge(draft, a_header(0)) is Verdict.DUPLICATE


def test_five_batches_are_kept():
    state = state_after(*range(8))
    assert state.entries == tuple(Entry(n, n, n) for n in (3, 4, 5, 6, 7))


def test_of_a_commit_with_more_than_five_the_last_five_are_kept():
    draft = ProducerDraft.of(state_after(0))
    for first in range(1, 8):
        draft = accept(draft, a_header(first))
    state = draft.state(range(7))
    assert state.fresh == KEPT
    assert state.at(100).entries == tuple(Entry(n, n, 99 + n) for n in range(3, 8))


def test_only_the_newest_batches_move_with_the_base_of_their_commit():
    draft = accept(accept(ProducerDraft.of(state_after(0, 1)), a_header(2, records=3)), a_header(5))
    state = draft.state([10, 13])
    bases = [entry.base for entry in state.at(50).entries]
    assert bases == [0, 1, 60, 63]


def test_a_state_that_has_its_offsets_does_not_move_again():
    state = state_after(0, 1)
    assert state.at(77) == state


sequences, offsets = st.integers(0, LAST), st.integers(0, 2**62)


@given_that(
    st.integers(0, 2**15 - 1),
    st.lists(st.builds(Entry, sequences, sequences, offsets), max_size=KEPT),
    st.integers(0, KEPT),
    offsets,
)
def test_a_state_survives_being_stored_with_the_base_of_its_commit(epoch, entries, fresh, base):
    fresh = min(fresh, len(entries))
    state = ProducerState(epoch, tuple(entries), fresh)
    stored = ProducerState.of(Bound(1, state.pack(), base))
    assert stored == state.at(base)
    assert stored.fresh == 0
    old, new = entries[: len(entries) - fresh], entries[len(entries) - fresh :]
    assert stored.entries == (*old, *(e._replace(base=e.base + base) for e in new))


@given_that(
    st.integers(0, 2**15 - 1),
    sequences,
    st.lists(st.tuples(st.integers(1, LAST), offsets), max_size=KEPT),
    st.integers(0, KEPT),
    offsets,
)
def test_a_small_state_says_the_same_as_a_fixed_one(epoch, first, sized, fresh, base):
    """Whose batches follow one another, as they do."""
    entries = []
    for records, offset in sized:
        last = (first + records - 1) % (LAST + 1)
        entries.append(Entry(first, last, offset))
        first = (last + 1) % (LAST + 1)
    state = ProducerState(epoch, tuple(entries), min(fresh, len(entries)))
    stored = ProducerState.of(Bound(1, state.pack_small(), base))
    assert stored == ProducerState.of(Bound(1, state.pack(), base))


def test_a_small_state_of_five_batches_has_a_fifth_of_the_bytes():
    state = state_after(*range(1_000, 1_000 + KEPT))
    assert 5 * len(state.pack_small()) <= len(state.pack())
