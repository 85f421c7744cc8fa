"""ConsumerGroupHeartbeat (KIP-848), case by case."""

import pytest
from unit.groups.given import REBALANCE, SESSION, Given, T, U, parts

from samsa.groups import GroupError, GroupSettings, TopicInfo, state_of

EVERYTHING = parts(T, 0, 1, 2, 3)


def two_members() -> tuple[Given, frozenset, frozenset]:
    """A and B, both settled in epoch 2; what each has."""
    given = Given(settings=GroupSettings(consumer_session_timeout_ms=SESSION))
    given.heartbeat("A", 0)
    given.heartbeat("B", 0)
    mine = given.heartbeat("A", 1).assignment
    given.heartbeat("A", 1, owned=mine)
    return given, mine, given.heartbeat("B", 2).assignment


def test_a_lone_member_gets_everything_at_once():
    given = Given()
    answer = given.heartbeat("A", 0)
    assert (answer.error, answer.member_id, answer.epoch) == (None, "A", 1)
    assert answer.assignment == EVERYTHING
    assert answer.heartbeat_interval_ms == 5_000
    assert state_of(given.group) == "Stable"


def test_version_0_gives_member_ids():
    assert Given().heartbeat("", 0, ticket="fresh").member_id == "fresh"


def test_a_partition_is_assigned_only_when_its_owner_has_let_go():
    given = Given()
    given.heartbeat("A", 0)
    assert given.heartbeat("B", 0).assignment == frozenset()
    kept = given.heartbeat("A", 1)
    assert (kept.epoch, len(kept.assignment)) == (1, 2)
    assert given.heartbeat("B", 2).assignment is None
    assert given.heartbeat("A", 1, owned=EVERYTHING).epoch == 1
    assert state_of(given.group) == "Reconciling"
    assert given.heartbeat("A", 1, owned=kept.assignment).epoch == 2
    assert given.heartbeat("B", 2).assignment == EVERYTHING - kept.assignment
    assert state_of(given.group) == "Stable"


def test_what_a_member_let_go_may_come_back_to_it_at_once():
    given = Given()
    given.heartbeat("A", 0)
    given.heartbeat("B", 0)
    kept = given.heartbeat("A", 1).assignment
    given.heartbeat("B", -1)
    answer = given.heartbeat("A", 1, owned=kept)
    assert (answer.epoch, answer.assignment) == (3, EVERYTHING)


def test_an_idle_heartbeat_says_and_writes_nothing():
    given, _, _ = two_members()
    answer = given.heartbeat("A", 2)
    assert (answer.epoch, answer.assignment) == (2, None)
    assert not given.wrote


def test_whoever_says_everything_is_told_its_assignment_again():
    given, mine, _ = two_members()
    whole = {"topics": ("t",), "rebalance_timeout_ms": REBALANCE, "owned": mine}
    assert given.heartbeat("A", 2, **whole).assignment == mine


def test_a_member_whose_answer_was_lost_may_come_with_its_epoch_before():
    given, mine, _ = two_members()
    assert given.heartbeat("A", 1, owned=mine).epoch == 2
    assert given.heartbeat("A", 1, owned=parts(T, 9)).error is GroupError.FENCED_MEMBER_EPOCH
    assert given.heartbeat("A", 1).error is GroupError.FENCED_MEMBER_EPOCH


@pytest.mark.parametrize("epoch", [3, 99])
def test_an_epoch_that_never_was_is_fenced(epoch):
    given, _, _ = two_members()
    assert given.heartbeat("A", epoch).error is GroupError.FENCED_MEMBER_EPOCH


def test_a_join_by_a_member_that_has_gone_on_is_fenced():
    given, _mine, _ = two_members()
    given.heartbeat("C", 0)
    given.heartbeat("A", 2, owned=frozenset())
    assert given.heartbeat("A", 0).error is GroupError.FENCED_MEMBER_EPOCH


def test_nobody_knows_a_member_that_never_joined():
    assert Given().heartbeat("A", 1).error is GroupError.GROUP_ID_NOT_FOUND
    given, _, _ = two_members()
    assert given.heartbeat("C", 2).error is GroupError.UNKNOWN_MEMBER_ID
    assert given.heartbeat("C", -1).error is GroupError.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("epoch", "changes"),
    [
        (0, {"rebalance_timeout_ms": -1}),
        (0, {"owned": None}),
        (0, {"owned": parts(T, 1)}),
        (0, {"topics": None}),
        (0, {"member_id": ""}),
        (0, {"instance_id": ""}),
        (0, {"rack_id": ""}),
        (1, {"member_id": ""}),
        (-1, {"member_id": ""}),
        (-2, {}),
        (-3, {}),
    ],
)
def test_requests_that_contradict_themselves_are_refused(epoch, changes):
    given = Given()
    assert given.heartbeat("A", epoch, **changes).error is GroupError.INVALID_REQUEST
    assert given.group is None


def test_an_assignor_that_there_is_not_is_refused():
    error = Given().heartbeat("A", 0, assignor="magic").error
    assert error is GroupError.UNSUPPORTED_ASSIGNOR


def test_a_full_group_takes_no_more():
    given = Given(settings=GroupSettings(consumer_max_size=1))
    given.heartbeat("A", 0)
    assert given.heartbeat("B", 0).error is GroupError.GROUP_MAX_SIZE_REACHED
    assert given.heartbeat("A", 1).error is None


def test_who_leaves_is_forgotten_and_the_rest_get_what_it_had():
    given, _, _ = two_members()
    assert given.heartbeat("B", -1).epoch == -1
    assert state_of(given.group) == "Assigning"
    answer = given.heartbeat("A", 2)
    assert (answer.epoch, answer.assignment) == (3, EVERYTHING)


def test_the_last_to_leave_leaves_an_empty_group():
    given = Given()
    given.heartbeat("A", 0)
    given.heartbeat("A", -1)
    assert state_of(given.group) == "Empty"
    assert given.heartbeat("A", 1).error is GroupError.UNKNOWN_MEMBER_ID


def test_a_silent_member_is_dropped_when_its_session_is_over():
    given, _, _ = two_members()
    for _ in range(5):
        given.now += SESSION // 4
        answer = given.heartbeat("A", given.group.members["A"].epoch)
    assert answer.assignment == EVERYTHING


def test_a_member_that_does_not_let_go_in_time_is_dropped_though_it_beats():
    given = Given(settings=GroupSettings(consumer_session_timeout_ms=SESSION))
    given.heartbeat("A", 0)
    given.heartbeat("B", 0)
    given.heartbeat("A", 1)
    for _ in range(10):
        given.now += REBALANCE // 10
        fate = given.heartbeat("A", 1, owned=EVERYTHING)
        got = given.heartbeat("B", given.group.members["B"].epoch)
    assert fate.error is GroupError.UNKNOWN_MEMBER_ID
    assert got.assignment == EVERYTHING


def test_new_partitions_and_new_topics_are_assigned_at_the_next_heartbeat():
    given = Given()
    given.heartbeat("A", 0, topics=("t", "v"))
    given.topics["t"] = TopicInfo(T, 5)
    assert (T, 4) in given.heartbeat("A", 1).assignment
    given.topics["v"] = TopicInfo(U, 1)
    assert (U, 0) in given.heartbeat("A", 2).assignment
    assert given.group.epoch == 3


def test_a_process_that_looked_earlier_does_not_undo_what_another_found():
    given = Given()
    before = dict(given.topics)
    given.heartbeat("A", 0, topics=("t", "v"), known_at_ms=10)
    given.topics["t"] = TopicInfo(T, 5)
    given.topics["v"] = TopicInfo(U, 1)
    assert len(given.heartbeat("A", 1, known_at_ms=20).assignment) == 6
    assert given.heartbeat("A", 2, known=before, known_at_ms=19).assignment is None
    assert not given.wrote
    assert len(given.heartbeat("A", 2, known=before, known_at_ms=21).assignment) == 4


def test_a_process_that_looked_earlier_still_serves_new_subscriptions():
    given = Given()
    given.heartbeat("A", 0, known_at_ms=20)
    given.heartbeat("A", 1, topics=("u",), known_at_ms=10)
    assert given.heartbeat("A", 1, owned=frozenset(), known_at_ms=10).assignment == parts(U, 0, 1)


def test_a_topic_that_is_made_anew_is_another():
    given = Given()
    given.heartbeat("A", 0, topics=("u",))
    given.topics["u"] = TopicInfo(T, 1)
    assert given.heartbeat("A", 1).assignment == frozenset()
    assert given.heartbeat("A", 1, owned=frozenset()).assignment == parts(T, 0)


def test_a_changed_subscription_changes_the_assignment():
    given = Given()
    given.heartbeat("A", 0)
    assert given.heartbeat("A", 1, topics=("u",)).assignment == frozenset()
    assert given.heartbeat("A", 1, owned=frozenset()).assignment == parts(U, 0, 1)


def test_a_pattern_stands_for_the_topics_that_it_matches():
    given = Given()
    asked = {"topics": (), "pattern": "t.*"}
    assert given.heartbeat("A", 0, **asked, matches={"t.*": ("t",)}).assignment == EVERYTHING
    given.topics["tt"] = TopicInfo(U, 1)
    answer = given.heartbeat("A", 1, matches={"t.*": ("t", "tt")})
    assert answer.assignment == EVERYTHING | parts(U, 0)
    given.heartbeat("A", 2, matches={"t.*": ("t", "tt")})
    assert not given.wrote


def test_a_pattern_that_is_none_is_refused():
    given = Given()
    error = given.heartbeat("A", 0, topics=None, pattern="(").error
    assert error is GroupError.INVALID_REGULAR_EXPRESSION


# Static members


def test_an_instance_in_use_is_not_released():
    given = Given()
    given.heartbeat("A", 0, instance_id="i")
    error = given.heartbeat("B", 0, instance_id="i").error
    assert error is GroupError.UNRELEASED_INSTANCE_ID


def test_an_instance_that_was_away_takes_its_assignment_up():
    given = Given()
    given.heartbeat("A", 0, instance_id="i")
    given.heartbeat("B", 0, instance_id="j")
    mine = given.heartbeat("A", 1, instance_id="i").assignment
    given.heartbeat("A", 1, instance_id="i", owned=mine)
    assert given.heartbeat("A", -2, instance_id="i").epoch == -2
    back = given.heartbeat("C", 0, instance_id="i")
    assert (back.epoch, back.assignment) == (2, mine)
    assert given.group.epoch == 2
    fenced = given.heartbeat("A", 2, instance_id="i").error
    assert fenced is GroupError.FENCED_INSTANCE_ID


def test_an_instance_that_stays_away_loses_its_place():
    given = Given()
    given.heartbeat("A", 0, instance_id="i")
    given.heartbeat("A", -2, instance_id="i")
    given.now += 2 * given.settings.consumer_session_timeout_ms
    assert given.heartbeat("B", 0).assignment == EVERYTHING


def test_an_instance_nobody_has_is_unknown():
    given = Given()
    given.heartbeat("A", 0)
    error = given.heartbeat("A", 1, instance_id="i").error
    assert error is GroupError.UNKNOWN_MEMBER_ID
