"""Static members of the classic protocol (KIP-345)."""

import pytest
from unit.groups.given import REBALANCE, SESSION, Given

from samsa.groups import GroupError, Joined, Parked, state_of


def test_an_instance_that_comes_back_takes_its_assignment_up_without_a_rebalance():
    given = Given()
    i, j = given.static("i", "j")
    joined = given.join(instance_id="j")
    assert (joined.error, joined.generation, joined.leader) == (None, 1, i)
    assert joined.member_id != j
    assert given.sync(joined.member_id, 1, instance_id="j").assignment == j.encode()
    assert state_of(given.group) == "Stable"


def test_a_leading_instance_that_comes_back_leads_and_need_not_assign():
    given = Given()
    given.static("i", "j")
    joined = given.join(instance_id="i")
    assert joined.leader == joined.member_id
    assert joined.skip_assignment
    assert len(joined.members) == 2


def test_an_old_client_that_would_assign_anew_is_not_told_that_it_leads():
    given = Given()
    i, _ = given.static("i", "j")
    joined = given.join(instance_id="i", can_skip_assignment=False)
    assert joined.leader == i
    assert joined.members == ()
    assert not joined.skip_assignment


@pytest.mark.parametrize("what", ["beat", "sync", "join", "leave"])
def test_whoever_had_the_instance_before_is_fenced(what):
    given = Given()
    _, j = given.static("i", "j")
    given.join(instance_id="j")
    ask = {
        "beat": lambda: given.beat(j, 1, instance_id="j"),
        "sync": lambda: given.sync(j, 1, instance_id="j").error,
        "join": lambda: given.join(j, instance_id="j").error,
        "leave": lambda: given.leave((j, "j")).members[0].error,
    }[what]
    assert ask() is GroupError.FENCED_INSTANCE_ID


def test_an_instance_that_comes_back_with_another_favourite_starts_a_rebalance():
    given = Given()
    both = (("range", b""), ("sticky", b""))
    given.static("i", protocols=both)
    answer = given.join(instance_id="i", protocols=both[::-1])
    assert isinstance(answer, Joined)
    assert (answer.generation, answer.protocol) == (2, "sticky")


def test_an_instance_that_comes_back_while_the_leader_assigns_starts_a_rebalance():
    given = Given()
    parked = [given.join(instance_id=each) for each in "ij"]
    given.now += REBALANCE
    i, _j = [given.ask(answer.ask).member_id for answer in parked]
    assert state_of(given.group) == "CompletingRebalance"
    assert isinstance(given.join(instance_id="j"), Parked)
    assert given.sync(i, 1).error is GroupError.REBALANCE_IN_PROGRESS


def test_an_instance_that_does_not_join_again_keeps_its_place():
    given = Given()
    i, _j = given.static("i", "j", session_timeout_ms=60_000)
    parked = given.join(i, instance_id="i")
    given.now += REBALANCE
    joined = given.ask(parked.ask)
    assert {member.instance_id for member in joined.members} == {"i", "j"}


def test_a_leading_instance_that_does_not_join_again_does_not_lead():
    given = Given()
    _i, j = given.static("i", "j", session_timeout_ms=60_000)
    parked = given.join(j, instance_id="j", protocols=(("range", b"other"),))
    given.now += REBALANCE
    assert given.ask(parked.ask).leader == j


def test_where_no_instance_joins_again_the_rebalance_waits_for_their_sessions():
    given = Given()
    i, j, _k = given.static("i", "j", "k", session_timeout_ms=100_000)
    given.leave(("", "k"))
    given.now += REBALANCE
    assert given.beat(i, 1, instance_id="i") is GroupError.REBALANCE_IN_PROGRESS
    assert set(given.group.members) == {i, j}
    assert given.group.generation == 1


def test_an_instance_that_stays_away_is_dropped_when_its_session_is_over():
    given = Given()
    i, _j = given.static("i", "j")
    for _ in range(5):
        given.now += SESSION // 4
        given.beat(i, 1, instance_id="i")
    assert list(given.group.members) == [i]


def test_a_new_instance_needs_no_id_first():
    assert isinstance(Given().join(instance_id="i", requires_id=True), Parked)
