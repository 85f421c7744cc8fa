"""Groups that move between the protocols while their members work."""

from property.groups.subscriptions import assigned, assignment, subscription
from unit.groups.given import SESSION, Given, T, parts

from samsa.groups import (
    ClassicGroup,
    ConsumerGroup,
    GroupError,
    GroupSettings,
    Parked,
    may_commit,
    state_of,
)


def consumers(*shares: list[tuple[str, int]], cooperative=True) -> tuple[Given, list[str]]:
    """A stable classic group of consumers of topic t, with these assignments."""
    given = Given()
    names = "abcdef"[: len(shares)]
    ids = given.stable(*names, protocols=offer())
    given.join(ids[0], protocols=offer())
    for member_id in ids[1:]:
        given.join(member_id, protocols=offer())
    shared = {each: assignment(mine) for each, mine in zip(ids, shares, strict=True)}
    given.sync(ids[0], 2, shared)
    for member_id in ids[1:]:
        given.sync(member_id, 2)
    assert state_of(given.group) == "Stable"
    return given, ids


def offer(*owned: tuple[str, int], topics=("t",)):
    return (("range", subscription(topics, owned)),)


def rejoin(given: Given, member_id: str, *owned: tuple[str, int], **changes):
    return given.join(member_id, protocols=offer(*owned), known=given.topics, **changes)


def test_a_group_is_upgraded_when_the_first_member_of_the_new_kind_joins():
    given, (a, b) = consumers([("t", 0), ("t", 1)], [("t", 2), ("t", 3)])
    new = given.heartbeat("N", 0)
    assert isinstance(given.group, ConsumerGroup)
    assert (new.epoch, new.assignment) == (3, frozenset())
    assert given.beat(a, 2) is GroupError.REBALANCE_IN_PROGRESS
    assert given.group.members[b].assigned == parts(T, 2, 3)


def test_a_classic_member_lets_go_and_the_new_one_gets_it():
    given, (a,) = consumers([("t", number) for number in range(4)])
    given.heartbeat("N", 0)
    everything = [("t", number) for number in range(4)]
    assert rejoin(given, a, *everything).generation == 2
    kept = assigned(given.sync(a, 2, protocol="range").assignment)
    assert len(kept) == 2
    assert given.heartbeat("N", 3).assignment is None
    assert given.beat(a, 2) is GroupError.REBALANCE_IN_PROGRESS
    assert rejoin(given, a, *kept).generation == 3
    assert assigned(given.sync(a, 3).assignment) == kept
    assert len(given.heartbeat("N", 3).assignment) == 2
    assert given.beat(a, 3) is None
    assert state_of(given.group) == "Stable"


def test_a_classic_member_does_not_commit_before_it_knows_what_it_has():
    given, (a,) = consumers([("t", 0)])
    given.heartbeat("N", 0)
    generation = rejoin(given, a).generation
    early = may_commit(given.group, a, None, generation, given.now)
    assert early is GroupError.REBALANCE_IN_PROGRESS
    given.sync(a, generation)
    assert may_commit(given.group, a, None, generation, given.now) is None
    stale = may_commit(given.group, a, None, generation - 1, given.now)
    assert stale is GroupError.ILLEGAL_GENERATION


def test_a_sync_after_the_next_epoch_began_must_join_again():
    given, (a,) = consumers([("t", 0)])
    given.heartbeat("N", 0)
    generation = rejoin(given, a).generation
    given.heartbeat("M", 0)
    assert given.sync(a, generation).error is GroupError.REBALANCE_IN_PROGRESS


def test_a_member_that_waits_for_its_partitions_is_called_when_they_are_free():
    given, (a,) = consumers([("t", number) for number in range(4)])
    given.heartbeat("N", 0)
    joined = rejoin(given, "", client_id="late", requires_id=False)
    assert assigned(given.sync(joined.member_id, joined.generation).assignment) == set()
    rejoin(given, a)
    given.sync(a, given.group.members[a].epoch)
    assert given.beat(joined.member_id, joined.generation) is GroupError.REBALANCE_IN_PROGRESS


def test_what_a_member_still_reads_is_kept_for_it_though_its_group_was_rebalancing():
    given, (a, b) = consumers([("t", 0), ("t", 1)], [("t", 2), ("t", 3)])
    given.join(a, protocols=offer(("t", 0), ("t", 1), topics=("t", "u")))
    given.join(b, protocols=offer(("t", 2), ("t", 3)))
    given.join(client_id="c", protocols=offer())
    assert not any(member.assignment for member in given.group.members.values())
    given.heartbeat("N", 0)
    assert given.group.members[a].assigned == parts(T, 0, 1)
    assert given.group.members[b].assigned == parts(T, 2, 3)


def test_whoever_waits_in_a_group_that_is_upgraded_is_woken_and_joins_again():
    given, (a, b) = consumers([("t", 0)], [("t", 1)])
    parked = given.join(a, protocols=offer(), waiter="there")
    given.heartbeat("N", 0)
    assert given.woken == {"there"}
    assert given.ask(parked.ask).error is GroupError.REBALANCE_IN_PROGRESS
    assert rejoin(given, a).error is None
    assert b in given.group.members


def test_a_group_is_downgraded_when_the_last_member_of_the_new_kind_leaves():
    given, (a,) = consumers([("t", 0)])
    given.heartbeat("N", 0)
    given.heartbeat("N", -1)
    assert isinstance(given.group, ClassicGroup)
    assert state_of(given.group) == "PreparingRebalance"
    joined = rejoin(given, a)
    assert joined.leader == a
    assert joined.generation > 3


def test_a_group_is_downgraded_when_the_last_member_of_the_new_kind_falls_silent():
    given, (a,) = consumers([("t", 0)])
    given.settings = GroupSettings(consumer_session_timeout_ms=SESSION)
    given.heartbeat("N", 0)
    generation = rejoin(given, a).generation
    given.sync(a, generation)
    given.now += SESSION // 2
    assert given.beat(a, generation) is None
    given.now += SESSION
    assert given.beat(a, generation) is GroupError.ILLEGAL_GENERATION
    assert isinstance(given.group, ClassicGroup)
    assert list(given.group.members) == [a]


def test_a_group_of_another_kind_of_client_is_not_upgraded():
    given = Given()
    given.stable("a", protocol_type="connect")
    assert given.heartbeat("N", 0).error is GroupError.GROUP_ID_NOT_FOUND
    assert isinstance(given.group, ClassicGroup)


def test_a_group_with_malformed_metadata_is_not_upgraded():
    given = Given()
    given.stable("a", protocols=(("range", b"\xff"),))
    assert given.heartbeat("N", 0).error is GroupError.GROUP_ID_NOT_FOUND
    assert isinstance(given.group, ClassicGroup)


def test_only_a_join_upgrades_a_group():
    given, _ = consumers([("t", 0)])
    assert given.heartbeat("N", 3).error is GroupError.GROUP_ID_NOT_FOUND
    assert given.heartbeat("N", -1).error is GroupError.GROUP_ID_NOT_FOUND
    assert not given.wrote


def test_an_empty_group_changes_its_kind_and_its_epochs_go_on():
    given = Given()
    (a,) = given.stable("a")
    given.leave((a,))
    generation = given.group.generation
    assert given.heartbeat("N", 0).epoch > generation
    given.heartbeat("N", -1)
    epoch = given.group.epoch
    parked = given.join(protocols=offer())
    assert isinstance(parked, Parked)
    given.now = parked.deadline_ms
    assert given.ask(parked.ask).generation > epoch


def test_a_group_of_the_new_kind_takes_only_consumers():
    given = Given()
    given.heartbeat("N", 0)
    for changes in ({"protocol_type": "connect"}, {"protocols": (("range", b"\xff"),)}):
        refused = given.join(**changes)
        assert refused.error is GroupError.INCONSISTENT_GROUP_PROTOCOL
        assert not given.wrote


def test_a_classic_member_gets_its_id_first_here_too():
    given = Given()
    given.heartbeat("N", 0)
    given_id = given.join(requires_id=True, protocols=offer())
    assert given_id.error is GroupError.MEMBER_ID_REQUIRED
    assert not given.wrote
    assert rejoin(given, given_id.member_id).error is None


def test_members_of_the_new_kind_do_not_answer_to_classic_requests():
    given = Given()
    given.heartbeat("N", 0)
    assert given.beat("N", 1) is GroupError.UNKNOWN_MEMBER_ID
    assert given.sync("N", 1).error is GroupError.UNKNOWN_MEMBER_ID
    assert given.leave(("N",)).members[0].error is GroupError.UNKNOWN_MEMBER_ID


def test_a_classic_member_may_leave_a_group_of_the_new_kind():
    given, (a,) = consumers([("t", number) for number in range(4)])
    given.heartbeat("N", 0)
    assert given.leave((a,)).members[0].error is None
    assert given.heartbeat("N", 3).assignment == parts(T, 0, 1, 2, 3)


def test_a_classic_member_that_is_called_and_does_not_join_is_dropped():
    given, (a,) = consumers([("t", number) for number in range(4)])
    given.heartbeat("N", 0)
    for _ in range(11):
        fate = given.beat(a, 2)
        given.heartbeat("N", given.group.members["N"].epoch)
        given.now += 3_000
    assert fate is GroupError.UNKNOWN_MEMBER_ID
    assert given.group.members["N"].assigned == parts(T, 0, 1, 2, 3)


def test_a_static_member_changes_its_kind_and_keeps_its_partitions():
    given = Given()
    share = assignment([("t", 1), ("t", 3)])
    i, j = given.static("i", "j", share=share, protocols=offer())
    given.group = given.group._replace(
        members={**given.group.members, j: given.group.members[j]._replace(assignment=b"")}
    )
    assert given.heartbeat("N", 0, instance_id="i").assignment == parts(T, 1, 3)
    assert i not in given.group.members
    assert given.group.members["N"].classic is None


def test_an_instance_that_changes_protocol_in_the_middle_of_a_rebalance_gets_its_share():
    given = Given()
    parked = given.join(instance_id="i", protocols=offer())
    given.now = parked.deadline_ms
    assert given.ask(parked.ask).generation == 1
    new = given.heartbeat("N", 0, instance_id="i")
    assert new.assignment == parts(T, 0, 1, 2, 3)
