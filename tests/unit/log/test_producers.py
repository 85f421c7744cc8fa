import pytest
from unit.log.given import a_header

from samsa.log.producers import Draft, Entry, ProducerState, Verdict, accept, judge

LAST = 2**31 - 1


def state_after(*firsts: int, epoch: int = 0, records: int = 1) -> ProducerState:
    """Bound one batch after the other, each in a slot of its own."""
    state = ProducerState(epoch, ())
    for offset, first in enumerate(firsts):
        draft = Draft.of(state)
        draft.new.append(a_header(first, records, epoch))
        state = draft.bound([offset], offset)
    return state


def verdict(state: ProducerState | None, first: int, records: int = 1, epoch: int = 0) -> Verdict:
    return judge(Draft.of(state), a_header(first, records, epoch))


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
    draft = accept(Draft.of(state_after(0, 1, epoch=3)), a_header(0, epoch=4))
    assert draft.bound([9], 9) == ProducerState(4, (Entry(0, 0, 9, 9),))


def test_batches_of_one_slot_follow_each_other():
    draft = accept(Draft.of(state_after(0)), a_header(1, records=2))
    assert judge(draft, a_header(3)) is Verdict.NEXT
    assert judge(draft, a_header(2)) is Verdict.OUT_OF_ORDER


def test_the_same_batch_twice_in_one_slot_waits():
    draft = accept(Draft.of(state_after(0)), a_header(1))
    assert judge(draft, a_header(1)) is Verdict.LATER


def test_a_newer_epoch_waits_for_the_older_that_shares_its_slot():
    draft = accept(Draft.of(state_after(0)), a_header(1))
    assert judge(draft, a_header(0, epoch=1)) is Verdict.LATER


def test_a_batch_that_is_bound_again_takes_with_it_what_followed():
    draft = Draft.of(state_after(0, 1, 2))
    draft.rebind(draft.kept[1], a_header(1))
    assert judge(draft, a_header(2)) is Verdict.NEXT
    assert draft.bound([8], 8).entries == (Entry(0, 0, 0, 0), Entry(1, 1, 8, 8))


def test_five_batches_are_kept_and_survive_being_packed():
    state = state_after(*range(8))
    assert [entry.first for entry in state.entries] == [3, 4, 5, 6, 7]
    assert ProducerState.unpack(state.pack()) == state
