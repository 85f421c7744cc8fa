"""The judge tells a transactional log from what only looks like one: each fault beside its twin."""

import pytest
from histories.transactional.judging import judge
from histories.transactional.written import Story, places


def kinds(story: Story) -> set[str]:
    return set(judge(story.lines).kinds)


def two_committed(story: Story) -> None:
    """Values a and b in partition p, c in q. Markers are at p 1, p 3 and q 1."""
    story.commits("w.1.0", ("p", 0, "a"), ("q", 0, "c"))
    story.commits("w.1.1", ("p", 2, "b"))


ALL = (*places("p", "a.b."), *places("q", "c."))


def test_what_is_committed_and_seen_in_its_order_by_everybody_is_no_anomaly():
    story = Story()
    two_committed(story)
    story.sees("o.0", *ALL, p=4, q=2)
    story.closes(*ALL, p=4, q=2)
    assert not judge(story.lines).anomalies


def test_a_value_of_an_aborted_transaction_that_is_read_is_found():
    hidden, shown = Story(), Story()
    for story in (hidden, shown):
        story.aborts("w.1.0", ("p", 0, "a"))
    hidden.sees("o.0", p=2)
    hidden.closes(p=2)
    assert not kinds(hidden)
    shown.sees("o.0", ("p", 0, "a"), p=2)
    assert "aborted read" in kinds(shown)


def test_a_value_of_a_transaction_that_nobody_called_commit_for_is_aborted():
    story = Story()
    story.sends("w.1.0", ("p", 0, "a"))
    story.sees("o.0", ("p", 0, "a"), p=2)
    assert "aborted read" in kinds(story)


def test_a_copy_of_an_aborted_value_is_an_aborted_read_even_if_the_copy_is_aborted():
    story = Story()
    story.aborts("w.1.0", ("p", 0, "a"))
    story.sends("c.1.0", ("copies", 0, "x<a"), source="a")
    assert "aborted read" in kinds(story)


def test_a_transaction_without_an_answer_may_be_there_or_not():
    for ends in ((*places("p", "a."), *places("q", "c.")), ()):
        story = Story()
        story.sends("w.1.0", ("p", 0, "a"), ("q", 0, "c"))
        story.calls_commit("w.1.0")
        story.closes(*ends, p=2, q=2)
        assert not kinds(story), ends


def test_half_of_a_transaction_is_found_whether_its_outcome_is_known_or_not():
    for answered in (True, False):
        story = Story()
        story.sends("w.1.0", ("p", 0, "a"), ("q", 0, "c"))
        story.calls_commit("w.1.0")
        if answered:
            story.ends("w.1.0", "committed")
        story.closes(("p", 0, "a"), p=2, q=2)
        assert "torn transaction" in kinds(story)


def test_a_reader_that_has_not_passed_the_other_partition_yet_has_seen_no_torn_transaction():
    story = Story()
    two_committed(story)
    story.sees("o.0", *places("p", "a.b."), p=4)
    story.closes(*ALL, p=4, q=2)
    assert not kinds(story)


def test_a_value_that_is_read_before_commit_was_called_is_found():
    early, late = Story(), Story()
    for story in (early, late):
        story.sends("w.1.0", ("p", 0, "a"))
    early.sees("o.0", ("p", 0, "a"))
    for story in (early, late):
        story.calls_commit("w.1.0")
    late.sees("o.0", ("p", 0, "a"))
    for story in (early, late):
        story.ends("w.1.0", "committed")
        story.closes(("p", 0, "a"), p=2)
    assert kinds(early) == {"early read"}
    assert not kinds(late)


def test_a_value_that_nobody_sent_or_that_was_sent_elsewhere_is_found():
    story = Story()
    story.closes(("p", 0, "a"), p=1)
    assert "phantom" in kinds(story)
    story = Story()
    story.commits("w.1.0", ("q", 0, "a"))
    story.closes(("p", 0, "a"), p=2)
    assert "phantom" in kinds(story)


def test_a_value_at_two_offsets_is_found():
    story = Story()
    two_committed(story)
    story.closes(*ALL, ("p", 4, "b"), p=6, q=2)
    assert "duplicate" in kinds(story)


def test_an_offset_with_two_values_is_found_in_what_two_readers_see():
    story = Story()
    two_committed(story)
    story.commits("v.1.0", ("q", 2, "d"))
    story.sees("o.0", ("p", 0, "a"))
    story.sees("o.1", ("p", 0, "d"))
    assert "inconsistent offset" in kinds(story)


def test_an_offset_of_a_committed_value_that_an_aborted_one_was_given_too_is_found():
    story = Story()
    two_committed(story)
    story.aborts("v.1.0", ("p", 2, "x"))
    story.closes(*ALL, p=4, q=2)
    assert kinds(story) == {"inconsistent offset"}


def test_a_value_that_is_not_where_it_was_acknowledged_is_found():
    story = Story()
    story.commits("w.1.0", ("p", 0, "a"))
    story.closes(("p", 1, "a"), p=3)
    assert "misplaced" in kinds(story)


def test_values_of_one_producer_in_another_order_than_they_were_sent_are_found():
    story = Story()
    story.commits("w.1.0", ("p", 2, "a"))
    story.commits("w.2.0", ("p", 0, "b"))
    story.closes(*places("p", "b.a."), p=4)
    assert kinds(story) == {"out of order"}


def test_two_producers_may_be_stored_in_either_order():
    story = Story()
    story.commits("w.1.0", ("p", 2, "a"))
    story.commits("v.1.0", ("p", 0, "b"))
    story.closes(*places("p", "b.a."), p=4)
    assert not kinds(story)


def test_a_reader_that_is_given_an_offset_again_or_an_earlier_one_is_found():
    story = Story()
    two_committed(story)
    story.sees("o.0", *places("p", "a.b."), ("p", 2, "b"), p=4)
    story.closes(*ALL, p=4, q=2)
    assert kinds(story) == {"nonmonotonic poll"}


def test_a_reader_that_begins_anew_may_see_all_again():
    story = Story()
    two_committed(story)
    story.sees("o.0", *ALL, p=4, q=2)
    story.sees("o.1", *ALL, p=4, q=2)
    story.closes(*ALL, p=4, q=2)
    assert not kinds(story)


def test_a_reader_that_passes_what_others_see_is_found():
    story = Story()
    two_committed(story)
    story.sees("o.0", ("p", 2, "b"), p=4)
    story.closes(*ALL, p=4, q=2)
    assert kinds(story) == {"skipped poll"}


def test_a_reader_that_has_reached_an_end_that_is_later_than_what_it_saw_is_found():
    story = Story()
    two_committed(story)
    story.sees("o.0", ("p", 0, "a"), p=4)
    story.closes(*ALL, p=4, q=2)
    assert kinds(story) == {"skipped poll"}


def test_a_committed_value_that_everybody_passes_is_lost():
    story = Story()
    two_committed(story)
    story.closes(("p", 2, "b"), *places("q", "c."), p=4, q=2)
    assert {"lost write", "unseen", "torn transaction"} == kinds(story)


def test_a_committed_value_that_nobody_ever_comes_to_is_unseen():
    story = Story()
    two_committed(story)
    story.closes(*places("p", "a."), *places("q", "c."), p=2, q=2)
    assert kinds(story) == {"unseen"}


def test_a_value_that_was_read_and_is_gone_in_the_end_is_found():
    story = Story()
    story.sends("w.1.0", ("p", 0, "a"))
    story.calls_commit("w.1.0")
    story.sees("o.0", ("p", 0, "a"))
    story.closes(p=0)
    assert "vanished" in kinds(story)


def test_an_end_that_went_back_for_one_reader_is_found():
    story = Story()
    two_committed(story)
    story.sees("o.0", *ALL, p=4, q=2)
    story.goes_on("o.0", p=3)
    story.closes(*ALL, p=4, q=2)
    assert kinds(story) == {"end went back"}


def test_an_end_before_what_another_had_read_is_found_only_if_the_reader_began_after_that():
    story = Story()
    two_committed(story)
    story.add("look", "beside.0")
    story.sees("o.0", *ALL, p=4, q=2)
    story.goes_on("beside.0", ("p", 0, "a"), p=2)
    assert "end went back" not in kinds(story)
    story.sees("after.0", ("p", 0, "a"), p=2)
    assert "end went back" in kinds(story)


def test_a_stable_end_that_stays_behind_when_all_is_over_is_found():
    story = Story()
    two_committed(story)
    story.closes(*ALL, p=4, q=2)
    story.add("ends", "last", partition="p", stable=4, high=5)
    assert kinds(story) == {"stuck"}


def test_a_last_look_that_does_not_come_to_the_stable_end_is_found():
    story = Story()
    two_committed(story)
    story.add("ends", "last", partition="p", stable=6, high=6)
    story.sees("last-0", *ALL, p=4, q=2)
    assert kinds(story) == {"stuck"}


def test_a_reader_that_is_refused_an_offset_is_found():
    story = Story()
    story.sees("o.0")
    story.add("refused", "o.0", partition="p", error="out of range")
    assert kinds(story) == {"refused poll"}


def copied(*sources: str, committed: int) -> Story:
    """Input a, b at p 0 and 2. Each source is copied, and the group has committed so far in p."""
    story = Story()
    two_committed(story)
    made = [("copies", 2 * n, f"{n}<{source}") for n, source in enumerate(sources)]
    for n, (one, source) in enumerate(zip(made, sources, strict=True)):
        story.commits(f"c.1.{n}", one, source=source)
    story.add("group", "last", partition="p", offset=committed)
    story.closes(*ALL, *made, p=4, q=2, copies=2 * len(made))
    return story


def test_input_below_the_committed_offset_has_one_copy_and_the_rest_none():
    assert not kinds(copied(committed=0))
    assert not kinds(copied("a", committed=1))
    assert not kinds(copied("a", "b", committed=3))


def test_input_that_is_copied_twice_is_found():
    assert kinds(copied("a", "b", "a", committed=3)) == {"copied twice"}


def test_input_that_is_skipped_is_found():
    assert kinds(copied("a", committed=3)) == {"not copied"}


def test_a_copy_without_its_offset_is_found():
    assert kinds(copied("a", "b", committed=1)) == {"copied without its offset"}


def test_a_copy_of_what_nobody_else_saw_is_found():
    assert "copied from nothing" in kinds(copied("a", "z", committed=1))


def test_a_line_of_an_unknown_kind_is_not_passed_over():
    story = Story()
    story.add("delete", "w.1")
    with pytest.raises(ValueError, match="delete"):
        judge(story.lines)
