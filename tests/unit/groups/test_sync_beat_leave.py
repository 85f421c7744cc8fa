"""SyncGroup, Heartbeat and LeaveGroup of the classic protocol."""

import pytest
from unit.groups.given import DELAY, REBALANCE, SESSION, Given

from samsa.groups import (
    ConsumerHeartbeat,
    GroupError,
    GroupSettings,
    Heartbeat,
    LeftMember,
    MemberHeartbeats,
    Parked,
    Sync,
    Synced,
    state_of,
    step,
)


def rebalancing(*names: str) -> tuple[Given, list[str]]:
    """Everyone has joined generation 1, and the leader has not assigned."""
    given = Given()
    parked = [given.join(client_id=name) for name in names]
    given.now += 3 * DELAY
    return given, [given.ask(answer.ask).member_id for answer in parked]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"member_id": "nobody"}, GroupError.UNKNOWN_MEMBER_ID),
        ({"generation": 2}, GroupError.ILLEGAL_GENERATION),
        ({"generation": 0}, GroupError.ILLEGAL_GENERATION),
        ({"protocol_type": "connect"}, GroupError.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol": "other"}, GroupError.INCONSISTENT_GROUP_PROTOCOL),
        ({"instance_id": "i"}, GroupError.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_sync_that_does_not_fit_is_refused(changes, error):
    given, (a, _) = rebalancing("a", "b")
    request = Sync(a, 1, assignments={a: b"1"})
    assert given.ask(request._replace(**changes)) == Synced(error)
    assert state_of(given.group) == "CompletingRebalance"


def test_a_group_that_does_not_exist_knows_nobody():
    given = Given()
    assert given.sync("a", 1).error is GroupError.UNKNOWN_MEMBER_ID
    assert given.beat("a", 1) is GroupError.UNKNOWN_MEMBER_ID
    assert given.leave(("a",)).members == (LeftMember("a", None, GroupError.UNKNOWN_MEMBER_ID),)
    assert given.group is None


def test_whoever_the_leader_forgets_gets_nothing():
    given, (a, b) = rebalancing("a", "b")
    given.sync(a, 1, {a: b"all"})
    assert given.sync(b, 1) == Synced(None, b"", "consumer", "range")


def test_a_sync_after_the_next_rebalance_began_must_join_again():
    given, (a, _b) = rebalancing("a", "b")
    given.join(client_id="c")
    assert given.sync(a, 1, {a: b"1"}).error is GroupError.REBALANCE_IN_PROGRESS


def test_who_does_not_sync_in_time_is_left_out_though_it_beats():
    given, (a, b) = rebalancing("a", "b")
    given.sync(a, 1, {a: b"1", b: b"2"})
    for _ in range(10):
        given.now += REBALANCE // 10
        given.beat(a, 1)
        given.beat(b, 1)
    assert list(given.group.members) == [a]
    assert state_of(given.group) == "PreparingRebalance"


def test_a_leader_that_does_not_assign_is_left_out_though_it_beats():
    given, (a, b) = rebalancing("a", "b")
    parked = given.sync(b, 1)
    for _ in range(10):
        given.now += REBALANCE // 10
        given.beat(a, 1)
    assert given.ask(parked.ask).error is GroupError.REBALANCE_IN_PROGRESS
    assert list(given.group.members) == [b]


def test_a_sync_of_the_generation_before_is_refused():
    given = Given()
    a, b = given.stable("a", "b")
    given.join(a)
    given.join(b)
    assert given.sync(a, 1).error is GroupError.ILLEGAL_GENERATION


def test_a_heartbeat_calls_to_the_rebalance():
    given = Given()
    a, b = given.stable("a", "b")
    assert given.beat(b, 1) is None
    given.join(a)
    assert given.beat(b, 1) is GroupError.REBALANCE_IN_PROGRESS


def test_a_silent_member_is_dropped_when_its_session_is_over():
    given = Given()
    a, _b = given.stable("a", "b")
    for _ in range(5):
        given.now += SESSION // 4
        given.beat(a, 1)
    assert list(given.group.members) == [a]
    assert given.beat(a, 1) is GroupError.REBALANCE_IN_PROGRESS


def test_a_heartbeat_is_written_only_when_it_is_worth_it():
    given = Given()
    a, _b = given.stable("a", "b")
    given.now += SESSION // 4 - 1
    given.beat(a, 1)
    assert not given.wrote
    given.now += 1
    given.beat(a, 1)
    assert given.wrote


def test_a_heartbeat_that_was_not_written_still_counts():
    given = Given(settings=GroupSettings(initial_rebalance_delay_ms=0))
    (a,) = given.stable("a")
    given.now += SESSION // 4 - 1
    given.beat(a, 1)
    given.now += SESSION - 1
    assert given.beat(a, 1) is None


def test_one_write_prolongs_everyone_who_was_heard():
    given = Given()
    ids = given.stable("a", "b", "c")
    answered_ms = {}
    for _ in range(2):
        given.now += SESSION // 4 - 1
        for member_id in ids[1::-1]:
            beat = Heartbeat(member_id, 1)
            done = step(
                given.group, beat, given.now, given.settings, MemberHeartbeats("", answered_ms)
            )
            if done.group is not given.group:
                given.group, answered_ms = done.group, {}
            else:
                answered_ms[member_id] = given.now
    ends = [given.group.members[each].deadline_ms for each in ids]
    assert ends[2] < ends[0] < ends[1]


def test_what_was_heard_writes_nothing_by_itself():
    given = Given()
    a, b = given.stable("a", "b")
    beat = Heartbeat(a, 1)
    heard = MemberHeartbeats("", {b: given.now + 1, "gone": given.now + 1})
    assert step(given.group, beat, given.now + 2, given.settings, heard).group is given.group
    later = step(given.group, beat, given.now + SESSION // 4, given.settings, heard).group
    assert later.members[b].deadline_ms == given.group.members[b].deadline_ms + 1
    assert set(later.members) == {a, b}


def test_what_was_heard_of_an_instance_before_it_went_away_does_not_keep_its_place():
    given = Given()
    given.heartbeat("A", 0, instance_id="i")
    before = given.group.members["A"].session_ends_ms
    away = ConsumerHeartbeat("A", -2, "i")
    heard = MemberHeartbeats("", {"A": given.now + 5})
    done = step(given.group, away, given.now + 9, given.settings, heard)
    assert done.group.members["A"].session_ends_ms == before


def test_a_parked_member_has_no_session_to_lose():
    given = Given()
    a, _b = given.stable("a", "b")
    parked = given.join(a)
    given.now += REBALANCE - 1
    given.ask(parked.ask)
    assert a in given.group.members


def test_the_last_to_leave_leaves_an_empty_group():
    given = Given()
    (a,) = given.stable("a")
    assert given.leave((a,)).members == (LeftMember(a, None, None),)
    assert state_of(given.group) == "Empty"
    assert given.group.generation == 2
    assert given.group.changed_at_ms == given.now


def test_leaving_the_first_phase_ends_it():
    given = Given()
    given.join()
    given.leave(("client-ticket0",))
    assert state_of(given.group) == "Empty"


def test_many_leave_at_once_each_with_its_own_answer():
    given = Given()
    ids = given.static("i", "j", "k")
    left = given.leave((ids[0], "i"), ("", "j"), ("", "nobody"), ("made-up", "k"), ("x", None))
    assert [member.error for member in left.members] == [
        None,
        None,
        GroupError.UNKNOWN_MEMBER_ID,
        GroupError.FENCED_INSTANCE_ID,
        GroupError.UNKNOWN_MEMBER_ID,
    ]
    assert list(given.group.members) == [ids[2]]


def test_an_id_that_was_only_given_may_be_given_back():
    given = Given()
    a, b = given.stable("a", "b")
    pending = given.join(requires_id=True).member_id
    given.join(a)
    assert isinstance(given.join(b), Parked)
    assert given.leave((pending,)).members[0].error is None
    assert given.woken == {"here"}
    assert given.group.generation == 2


def test_a_leader_that_leaves_starts_a_rebalance_under_another():
    given = Given()
    a, b = given.stable("a", "b")
    given.leave((a,))
    assert given.beat(b, 1) is GroupError.REBALANCE_IN_PROGRESS
    assert given.join(b).leader == b
