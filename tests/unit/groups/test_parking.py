"""Joins and syncs that wait: whoever asks again is recognised, here or in another process."""

from unit.groups.given import DELAY, SESSION, Given

from samsa.groups import GroupError, Join, Parked, Synced


def test_a_parked_join_stays_parked_and_writes_nothing():
    given = Given()
    parked = given.join()
    given.now += 1
    again = given.ask(parked.ask)
    assert isinstance(again, Parked)
    assert not given.wrote


def test_a_join_without_an_id_finds_itself_again():
    given = Given()
    parked = given.join(instance_id="i")
    assert parked.ask.member_id == ""
    given.now = parked.deadline_ms
    assert given.ask(parked.ask).member_id == "i-ticket0"
    assert len(given.group.members) == 1


def test_a_join_that_is_asked_again_late_is_told_the_generation_even_if_all_is_stable():
    given = Given()
    first, second = given.join(client_id="a"), given.join(client_id="b")
    given.now += 2 * DELAY
    leader = given.ask(first.ask)
    given.sync(leader.member_id, 1, {"b-ticket1": b"share"})
    assert given.ask(second.ask).generation == 1
    assert given.ask(first.ask).generation == 1
    assert given.group.generation == 1


def test_a_join_that_missed_its_generation_takes_part_in_the_next():
    given = Given()
    first, second = given.join(client_id="a"), given.join(client_id="b")
    given.now += 2 * DELAY
    given.ask(first.ask)
    third = given.join(client_id="c")
    assert isinstance(given.ask(second.ask), Parked)
    assert given.ask(first.ask).generation == 2
    assert given.ask(third.ask).generation == 2
    assert given.ask(second.ask).generation == 2


def test_whoever_asks_with_an_old_ticket_is_turned_away():
    given = Given()
    a, _b = given.stable("a", "b")
    old = given.join(a, waiter="there")
    new = given.join(a, waiter="here")
    assert given.ask(old.ask).error is GroupError.REBALANCE_IN_PROGRESS
    assert not given.wrote
    assert isinstance(given.ask(new.ask), Parked)
    assert given.group.members[a].waiter == "here"


def test_an_old_look_at_a_join_does_not_disturb_a_stable_group():
    given = Given()
    a, b = given.stable("a", "b")
    old = given.join(a)
    given.join(a)
    given.join(b)
    given.sync(a, 2, {a: b"", b: b""})
    given.sync(b, 2)
    assert given.ask(old.ask).error is GroupError.REBALANCE_IN_PROGRESS
    assert given.beat(a, 2) is None


def test_a_look_at_the_join_of_a_member_that_is_gone_makes_no_new_one():
    given = Given()
    parked = given.join()
    given.leave(("client-ticket0",))
    assert given.woken == {"here"}
    assert given.ask(parked.ask).error is GroupError.UNKNOWN_MEMBER_ID
    assert not given.group.members


def test_the_look_of_a_replaced_instance_is_fenced():
    given = Given()
    old = given.join(instance_id="i", waiter="there")
    new = given.join(instance_id="i", waiter="here")
    assert given.woken == {"there"}
    assert given.ask(old.ask).error is GroupError.FENCED_INSTANCE_ID
    assert isinstance(given.ask(new.ask), Parked)


def test_a_step_that_lost_its_race_runs_again_as_if_for_the_first_time():
    first, second = Given(), Given()
    request = Join(
        "", None, "consumer", (("range", b""),), SESSION, 1_000, "c", "h", "t", requires_id=False
    )
    first.ask(request)
    second.join(client_id="other")
    assert isinstance(second.ask(request), Parked)
    assert set(second.group.members) == {"other-ticket0", "c-t"}


def test_followers_wait_for_the_leader():
    given = Given()
    first, second = given.join(client_id="a"), given.join(client_id="b")
    given.now += 2 * DELAY
    leader, follower = given.ask(first.ask), given.ask(second.ask)
    parked = given.sync(follower.member_id, 1, waiter="there")
    assert isinstance(parked, Parked)
    given.now += 1_000
    assert isinstance(given.ask(parked.ask), Parked)
    shares = {leader.member_id: b"1", follower.member_id: b"2"}
    assert given.sync(leader.member_id, 1, shares).assignment == b"1"
    assert given.woken == {"there"}
    assert given.ask(parked.ask).assignment == b"2"


def test_a_follower_that_waits_is_told_when_the_leader_dies():
    given = Given()
    first, second = given.join(client_id="a"), given.join(client_id="b")
    given.now += 2 * DELAY
    given.ask(first.ask)
    follower = given.ask(second.ask)
    parked = given.sync(follower.member_id, 1)
    given.now = parked.deadline_ms
    assert given.ask(parked.ask) == Synced(GroupError.REBALANCE_IN_PROGRESS)
    assert list(given.group.members) == [follower.member_id]


def test_whoever_has_no_id_does_not_wait_for_ever():
    given = Given()
    _a, _b = given.stable("a", "b", rebalance_timeout_ms=3_600_000, session_timeout_ms=1_800_000)
    parked = given.join(client_id="c", rebalance_timeout_ms=3_600_000)
    assert parked.deadline_ms == given.now + given.settings.new_member_join_timeout_ms
    given.now = parked.deadline_ms
    assert given.ask(parked.ask).error is GroupError.UNKNOWN_MEMBER_ID


def test_a_deadline_is_never_over():
    given = Given()
    _a, b = given.stable("a", "b")
    given.now += 12_499
    given.beat(b, 1)
    parked = given.join(b, protocols=(("range", b"other"),))
    assert parked.deadline_ms == given.now + 1
    given.now += 1
    assert given.ask(parked.ask).generation == 2
