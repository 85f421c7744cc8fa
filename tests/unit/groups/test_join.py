"""JoinGroup: who may join, what that starts, and who is answered when."""

import pytest
from unit.groups.given import DELAY, REBALANCE, SESSION, Given

from samsa.groups import GroupError, GroupSettings, Joined, Parked, state_of


def test_the_first_of_a_group_waits_for_others():
    given = Given()
    answer = given.join()
    assert isinstance(answer, Parked)
    assert answer.deadline_ms == given.now + DELAY
    assert state_of(given.group) == "PreparingRebalance"


def test_a_lone_member_leads_generation_one():
    given = Given()
    parked = given.join(client_id="a")
    given.now = parked.deadline_ms
    joined = given.ask(parked.ask)
    assert (joined.error, joined.generation, joined.protocol) == (None, 1, "range")
    assert joined.leader == joined.member_id == "a-ticket0"
    assert [(m.member_id, m.metadata) for m in joined.members] == [("a-ticket0", b"meta")]


def test_without_a_delay_the_first_need_not_wait():
    given = Given(settings=GroupSettings(initial_rebalance_delay_ms=0))
    assert given.join().generation == 1


def test_each_newcomer_prolongs_the_first_phase_up_to_the_rebalance_timeout():
    given = Given()
    start = given.now
    deadlines = []
    for number in range(7):
        answer = given.join(client_id=str(number), rebalance_timeout_ms=7_000)
        deadlines.append(answer.deadline_ms - start)
        given.now += 1_000
    assert deadlines == [3_000, 3_000, 3_000, 6_000, 6_000, 6_000, 7_000]
    assert given.ask(answer.ask).generation == 1


def test_followers_are_not_told_of_each_other():
    given = Given()
    first, second = given.join(client_id="a"), given.join(client_id="b")
    given.now += 2 * DELAY
    assert len(given.ask(first.ask).members) == 2
    follower = given.ask(second.ask)
    assert follower.members == ()
    assert follower.leader == "a-ticket0"


def test_the_last_to_join_again_wakes_the_others():
    given = Given()
    a, b = given.stable("a", "b")
    assert isinstance(given.join(a, waiter="there"), Parked)
    assert given.join(b, waiter="here").generation == 2
    assert given.woken == {"there"}


def test_from_version_4_on_a_member_id_is_given_first():
    given = Given()
    answer = given.join(requires_id=True)
    assert answer == Joined(GroupError.MEMBER_ID_REQUIRED, "client-ticket0")
    assert isinstance(given.join(answer.member_id, requires_id=True), Parked)


def test_an_id_that_was_given_is_waited_for_until_its_session_would_end():
    given = Given()
    a, b = given.stable("a", "b")
    given.join(requires_id=True)
    given.join(a)
    assert isinstance(given.join(b), Parked)
    given.now += SESSION
    assert given.beat(a, 1) is GroupError.ILLEGAL_GENERATION
    assert given.group.generation == 2


def test_an_id_that_nobody_gave_is_unknown():
    given = Given()
    assert given.join("made-up").error is GroupError.UNKNOWN_MEMBER_ID
    assert given.group is None
    given.stable("a")
    assert given.join("made-up").error is GroupError.UNKNOWN_MEMBER_ID


def test_the_protocol_that_most_members_like_best_is_chosen():
    given = Given()
    liked = [("x", "y"), ("y", "x"), ("y", "z", "x")]
    answers = [
        given.join(client_id=str(number), protocols=tuple((name, name.encode()) for name in names))
        for number, names in enumerate(liked)
    ]
    given.now += 3 * DELAY
    joined = given.ask(answers[0].ask)
    assert joined.protocol == "y"
    assert {member.metadata for member in joined.members} == {b"y"}


@pytest.mark.parametrize(
    "offer",
    [
        {"protocols": (("other", b""),)},
        {"protocol_type": "connect"},
        {"protocols": ()},
    ],
)
def test_a_member_that_has_no_protocol_in_common_is_refused(offer):
    given = Given()
    given.stable("a")
    assert given.join(**offer).error is GroupError.INCONSISTENT_GROUP_PROTOCOL
    assert not given.wrote


def test_an_empty_group_may_change_its_protocol_type():
    given = Given()
    (a,) = given.stable("a")
    given.leave((a,))
    assert isinstance(given.join(protocol_type="connect"), Parked)
    assert given.group.protocol_type == "connect"


@pytest.mark.parametrize("timeout", [5_999, 1_800_001])
def test_session_timeouts_have_limits(timeout):
    given = Given()
    answer = given.join(session_timeout_ms=timeout)
    assert answer.error is GroupError.INVALID_SESSION_TIMEOUT
    assert given.group is None


def test_a_full_group_takes_no_more():
    given = Given(settings=GroupSettings(max_size=2))
    a, b = given.stable("a", "b")
    assert given.join().error is GroupError.GROUP_MAX_SIZE_REACHED
    given.join(a)
    assert given.join(b).generation == 2


def test_whoever_joins_again_last_is_put_out_of_a_group_that_became_too_large():
    given = Given()
    a, b, c = given.stable("a", "b", "c")
    given.settings = GroupSettings(max_size=2)
    given.join(a)
    given.join(b)
    assert given.join(c).error is GroupError.GROUP_MAX_SIZE_REACHED
    assert set(given.group.members) == {a, b}
    assert given.group.generation == 2


def test_a_follower_that_joins_again_unchanged_is_told_the_generation():
    given = Given()
    _a, b = given.stable("a", "b")
    assert given.join(b).generation == 1
    assert state_of(given.group) == "Stable"


def test_a_leader_that_joins_again_wants_a_rebalance():
    given = Given()
    a, _ = given.stable("a", "b")
    assert isinstance(given.join(a), Parked)
    assert state_of(given.group) == "PreparingRebalance"


def test_changed_metadata_starts_a_rebalance():
    given = Given()
    _, b = given.stable("a", "b")
    assert isinstance(given.join(b, protocols=(("range", b"other"),)), Parked)


def test_a_join_whose_answer_was_lost_is_answered_again_while_others_sync():
    given = Given()
    first, second = given.join(client_id="a"), given.join(client_id="b")
    given.now += 2 * DELAY
    given.ask(first.ask)
    joined = given.ask(second.ask)
    assert given.join(joined.member_id) == joined


def test_in_version_0_the_session_timeout_is_the_rebalance_timeout():
    given = Given()
    a, b = given.stable("a", "b", rebalance_timeout_ms=-1)
    parked = given.join(b, protocols=(("range", b"other"),), rebalance_timeout_ms=-1)
    assert parked.deadline_ms <= given.now + SESSION
    assert given.group.members[a].rebalance_timeout_ms == SESSION


def test_a_member_that_does_not_join_again_is_left_behind():
    given = Given()
    a, b = given.stable("a", "b", session_timeout_ms=60_000)
    parked = given.join(a)
    given.now += REBALANCE - 1
    assert isinstance(given.ask(parked.ask), Parked)
    given.now += 1
    joined = given.ask(parked.ask)
    assert [member.member_id for member in joined.members] == [a]
    assert given.beat(b, 1) is GroupError.UNKNOWN_MEMBER_ID


def test_when_the_leader_is_left_behind_another_leads():
    given = Given()
    a, b = given.stable("a", "b")
    parked = given.join(b, protocols=(("range", b"other"),))
    given.leave((a,))
    assert given.woken == {"here"}
    assert given.ask(parked.ask).leader == b
