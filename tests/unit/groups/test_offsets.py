"""Who may commit, fetch and delete offsets."""

import pytest
from property.groups.subscriptions import subscription
from unit.groups.given import DELAY, SESSION, Given

from samsa.groups import GroupError, may_commit, may_delete, may_fetch


def test_a_group_that_does_not_exist_takes_commits_from_who_is_no_member():
    assert may_commit(None, "", None, -1, 0) is None
    assert may_commit(None, "a", None, 1, 0) is GroupError.ILLEGAL_GENERATION


def test_a_member_commits_in_its_generation():
    given = Given()
    a, _ = given.static("i", "j")
    allowed = {
        (a, "i", 1): None,
        (a, None, 1): None,
        (a, "i", 2): GroupError.ILLEGAL_GENERATION,
        (a, "i", 0): GroupError.ILLEGAL_GENERATION,
        ("x", None, 1): GroupError.UNKNOWN_MEMBER_ID,
        ("x", "i", 1): GroupError.FENCED_INSTANCE_ID,
        ("x", "nobody", 1): GroupError.UNKNOWN_MEMBER_ID,
        ("", None, -1): GroupError.UNKNOWN_MEMBER_ID,
    }
    for who, error in allowed.items():
        assert may_commit(given.group, *who, given.now) is error, who


def test_a_member_may_commit_before_it_joins_again_and_not_before_it_syncs():
    given = Given()
    a, b = given.stable("a", "b")
    given.join(a)
    assert may_commit(given.group, b, None, 1, given.now) is None
    given.join(b)
    early = may_commit(given.group, b, None, 2, given.now)
    assert early is GroupError.REBALANCE_IN_PROGRESS


def test_who_slept_through_its_session_may_not_commit_though_nobody_noticed_yet():
    given = Given()
    (a,) = given.stable("a")
    given.now += 2 * SESSION
    assert may_commit(given.group, a, None, 1, given.now) is GroupError.UNKNOWN_MEMBER_ID
    assert may_commit(given.group, "", None, -1, given.now) is None


def test_a_member_of_the_consumer_protocol_commits_in_its_epoch():
    given = Given()
    given.heartbeat("A", 0)
    assert may_commit(given.group, "A", None, 1, given.now) is None
    assert may_commit(given.group, "A", None, 0, given.now) is GroupError.STALE_MEMBER_EPOCH
    assert may_commit(given.group, "B", None, 1, given.now) is GroupError.UNKNOWN_MEMBER_ID
    assert may_commit(given.group, "", None, -1, given.now) is GroupError.UNKNOWN_MEMBER_ID
    given.heartbeat("A", -1)
    assert may_commit(given.group, "", None, -1, given.now) is None


def test_whoever_says_who_it_is_fetches_in_its_epoch():
    given = Given()
    given.heartbeat("A", 0)
    assert may_fetch(given.group, None, -1, given.now) is None
    assert may_fetch(given.group, "A", 1, given.now) is None
    assert may_fetch(given.group, "A", 2, given.now) is GroupError.STALE_MEMBER_EPOCH
    assert may_fetch(None, "A", 2, given.now) is None


def test_offsets_of_topics_that_are_read_stay():
    given = Given()
    given.stable("a", protocols=(("range", subscription(["t"])),))
    assert may_delete(given.group, "t", given.now) is GroupError.GROUP_SUBSCRIBED_TO_TOPIC
    assert may_delete(given.group, "u", given.now) is None
    assert may_delete(given.group, None, given.now) is GroupError.NON_EMPTY_GROUP


@pytest.mark.parametrize(
    ("protocol_type", "error"),
    [
        ("consumer", GroupError.GROUP_SUBSCRIBED_TO_TOPIC),
        ("connect", GroupError.NON_EMPTY_GROUP),
    ],
)
def test_offsets_of_a_group_that_does_not_tell_its_topics_stay(protocol_type, error):
    given = Given()
    given.stable("a", protocol_type=protocol_type)
    assert may_delete(given.group, "t", given.now) is error


def test_a_group_without_members_may_be_deleted():
    given = Given()
    assert may_delete(None, None, 0) is GroupError.GROUP_ID_NOT_FOUND
    given.join()
    given.leave(("client-ticket0",))
    given.now += DELAY
    assert may_delete(given.group, None, given.now) is None
    assert may_delete(given.group, "t", given.now) is None


def test_patterns_count_as_subscriptions():
    given = Given()
    given.heartbeat("A", 0, topics=("u",), pattern="t.*", matches={"t.*": ("t",)})
    for topic, error in {"t": True, "u": True, "v": False}.items():
        assert bool(may_delete(given.group, topic, given.now)) is error
