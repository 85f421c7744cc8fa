"""The judge tells a log from what only looks like one: each fault beside its legal twin."""

from pathlib import Path

import pytest
from histories.judging import ILLEGAL, LEGAL, UNREADABLE, Verdict, judge
from histories.written import Line, append, end, read, write


@pytest.fixture
def judged(tmp_path: Path):
    def judge_lines(*lines: Line) -> Verdict:
        return judge(write(tmp_path / "history.jsonl", lines))

    return judge_lines


A_AND_B = [append((1, 2), "a", at=0), append((3, 4), "b", at=1)]


def test_what_was_appended_is_read_where_it_was_acknowledged(judged):
    lines = [*A_AND_B, read((5, 6), 0, (0, "a"), (1, "b"), end=2), end((7, 8), 2)]
    assert judged(*lines).code == LEGAL


def test_an_acknowledged_append_that_is_not_there_is_found(judged):
    found = judged(*A_AND_B, read((5, 6), 0, (1, "b"), end=2))
    assert found.code == ILLEGAL
    assert "offset 0 holds a, which is missing" in found.said


def test_an_acknowledged_append_that_the_end_leaves_out_is_found(judged):
    assert judged(*A_AND_B, end((5, 6), 1)).code == ILLEGAL


def test_an_end_may_leave_out_an_append_that_is_still_under_way(judged):
    assert (
        judged(append((1, 2), "a", at=0), append((3, 9), "b", at=1), end((5, 6), 1)).code == LEGAL
    )


def test_an_acknowledged_append_that_another_took_the_place_of_is_found(judged):
    lines = [
        append((1, 2), "a", at=0),
        append((3, None), "b"),
        read((4, 5), 0, (0, "b"), end=1),
    ]
    assert judged(*lines).code == ILLEGAL


def test_a_stale_read_after_a_newer_one_is_found(judged):
    newer = read((5, 6), 0, (0, "a"), (1, "b"), end=2, client=1)
    stale = read((7, 8), 0, (0, "a"), end=1, client=2)
    assert judged(*A_AND_B, newer, stale).code == ILLEGAL


def test_a_read_that_began_before_a_newer_one_ended_may_be_older(judged):
    lines = [
        append((1, 2), "a", at=0),
        append((3, 9), "b", at=1),
        read((5, 6), 0, (0, "a"), (1, "b"), end=2, client=1),
        read((4, 8), 0, (0, "a"), end=1, client=2),
    ]
    assert judged(*lines).code == LEGAL


def test_an_end_that_went_back_is_found(judged):
    found = judged(*A_AND_B, end((5, 6), 2), end((7, 8), 1))
    assert found.code == ILLEGAL
    assert "end: 1" in found.said


def test_ends_that_only_grow_are_legal(judged):
    lines = [A_AND_B[0], end((2, 3), 1), A_AND_B[1], end((5, 6), 2), end((7, 8), 2)]
    assert judged(*lines).code == LEGAL


def test_two_appends_with_one_offset_are_found(judged):
    lines = [append((1, 3), "a", at=0), append((2, 4), "b", at=0, client=1)]
    assert judged(*lines).code == ILLEGAL


def test_appends_at_the_same_time_have_offsets_in_either_order(judged):
    lines = [append((1, 3), "a", at=1), append((2, 4), "b", at=0, client=1)]
    assert judged(*lines).code == LEGAL


def test_a_later_append_with_an_earlier_offset_is_found(judged):
    lines = [append((1, 2), "a", at=1), append((3, 4), "b", at=0)]
    assert judged(*lines).code == ILLEGAL


def test_an_append_that_is_there_twice_is_found(judged):
    lines = [append((1, 2), "a", at=0), read((3, 4), 0, (0, "a"), (1, "a"), end=2)]
    assert judged(*lines).code == ILLEGAL


def test_an_append_sent_again_is_there_once(judged):
    sent_again = [append((1, None), "a"), append((3, 4), "a", at=0)]
    once = [*sent_again, read((5, 6), 0, (0, "a"), end=1)]
    assert judged(*once).code == LEGAL
    twice = [*sent_again, append((5, 6), "b", at=2), read((7, 8), 0, (0, "a"), (1, "a"), end=2)]
    assert judged(*twice).code == ILLEGAL


def test_an_append_sent_again_has_the_offset_that_it_had(judged):
    first = append((1, 2), "a", at=0)
    assert judged(first, append((3, 4), "a", at=0)).code == LEGAL
    assert judged(first, append((3, 4), "a", at=1)).code == ILLEGAL


def test_an_append_without_an_answer_may_have_happened_or_not_or_late(judged):
    lost = append((1, None), "a")
    other = append((3, 4), "b", at=0, client=1)
    assert judged(lost, other, end((5, 6), 1)).code == LEGAL
    after = read((7, 8), 0, (0, "b"), (1, "a"), end=2)
    assert judged(lost, other, end((5, 6), 1), after).code == LEGAL
    before = read((7, 8), 0, (0, "a"), (1, "b"), end=2)
    shifted = append((3, 4), "b", at=1, client=1)
    assert judged(lost, shifted, before).code == LEGAL


def test_an_append_without_an_answer_that_was_seen_does_not_vanish(judged):
    seen = [append((1, None), "a"), read((2, 3), 0, (0, "a"), end=1)]
    assert judged(*seen, end((4, 5), 1)).code == LEGAL
    assert judged(*seen, end((4, 5), 0)).code == ILLEGAL


def test_an_append_is_not_seen_before_it_was_sent(judged):
    early = [read((1, 2), 0, (0, "a"), end=1), append((3, 4), "a", at=0)]
    assert judged(*early).code == ILLEGAL
    meanwhile = [read((1, 4), 0, (0, "a"), end=1, client=1), append((3, 5), "a", at=0)]
    assert judged(*meanwhile).code == LEGAL


def test_half_of_an_append_is_not_seen(judged):
    two = append((1, 2), "a", "b", at=0)
    assert judged(two, end((3, 4), 2)).code == LEGAL
    assert judged(two, end((3, 4), 1)).code == ILLEGAL


def test_a_read_below_the_end_returns_something(judged):
    assert judged(*A_AND_B, read((5, 6), 2, end=2)).code == LEGAL
    assert judged(*A_AND_B, read((5, 6), 1, end=2)).code == ILLEGAL


def test_what_nobody_appended_is_found(judged):
    lines = [append((1, 2), "a", at=0), read((3, 4), 0, (0, "a"), (1, "x"), end=2)]
    assert judged(*lines).code == ILLEGAL


def test_an_offset_that_nobody_took_is_found(judged):
    lines = [append((1, 2), "a", at=0), append((3, 4), "b", at=2), end((5, 6), 3)]
    lines.append(read((7, 8), 0, (0, "a"), (2, "b"), end=3))
    assert judged(*lines).code == ILLEGAL


def test_an_offset_that_nobody_read_may_hold_an_append_without_an_answer(judged):
    lines = [append((1, None), "a"), append((2, 3), "b", at=1, client=1), end((4, 5), 2)]
    assert judged(*lines).code == LEGAL
    assert judged(*lines[1:]).code == ILLEGAL


def test_partitions_are_judged_apart_and_the_wrong_one_is_named_and_drawn(judged, tmp_path):
    right = [{**line, "partition": 3} for line in A_AND_B]
    wrong = [{**line, "partition": 5} for line in (*A_AND_B, end((5, 6), 0))]
    found = judged(*right, *wrong)
    assert found.code == ILLEGAL
    assert "partition 5" in found.said
    assert "partition 3" not in found.said
    assert "the end is 2, not 0" in found.said
    assert [path.name for path in tmp_path.glob("*.html")] == ["history-5.html"]


def test_many_appends_without_answers_are_judged_at_once(judged):
    """Each of them in the search would double it."""
    lines = [append((1, None), f"lost-{n}", client=n) for n in range(200)]
    lines += [append((2 * n + 2, 2 * n + 3), f"v{n}", at=n) for n in range(500)]
    lines.append(read((2000, 2001), 0, *((n, f"v{n}") for n in range(500)), end=500))
    assert judged(*lines).code == LEGAL
    assert judged(*lines, end((2002, 2003), 499)).code == ILLEGAL


def test_a_history_that_cannot_be_read_is_not_called_legal(judged):
    assert judged({**A_AND_B[0], "kind": "delete"}).code == UNREADABLE
    assert judged({**A_AND_B[0], "returned": 0}).code == UNREADABLE
