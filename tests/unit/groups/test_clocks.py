"""Sessions last as long as was asked, and no deadline lies further ahead than its own length."""

from unit.groups.given import DELAY, REBALANCE, SESSION, Given

from samsa.groups import (
    ConsumerHeartbeat,
    GroupError,
    GroupSettings,
    Heartbeat,
    MemberHeartbeats,
    Parked,
    described,
    step,
)

HOUR = 3_600_000


def beat_at(given: Given, heartbeats: MemberHeartbeats, member_id: str, generation: int = 1):
    """A heartbeat, as it is answered by the process that knows of these."""
    done = step(
        given.group, Heartbeat(member_id, generation), given.now, given.settings, heartbeats
    )
    given.group = done.group
    if done.answer.error is None:
        heartbeats.answered_ms[member_id] = given.now
    return done.answer.error


def test_a_session_ends_exactly_where_its_heartbeats_are_heard():
    given, here = Given(), MemberHeartbeats("here", {})
    a, b = given.stable("a", "b")
    for member_id in (a, b):
        beat_at(given, here, member_id)
    given.now += SESSION // 4 - 1
    beat_at(given, here, b)  # not worth a write
    ends = given.now + SESSION
    given.now = ends - SESSION // 2
    beat_at(given, here, a)
    given.now = ends - 1
    assert beat_at(given, here, a) is None
    assert set(given.group.members) == {a, b}
    given.now = ends
    assert beat_at(given, here, a) is GroupError.REBALANCE_IN_PROGRESS
    assert set(given.group.members) == {a}


def test_a_process_that_does_not_hear_a_member_gives_it_the_fourth_that_may_not_be_written():
    given, here = Given(), MemberHeartbeats("here", {})
    a, b = given.stable("a", "b")
    beat_at(given, here, b)
    elsewhere = MemberHeartbeats("elsewhere", {b: given.now})
    beat_at(given, elsewhere, a)
    written = given.group.members[b].deadline_ms
    given.now = written - SESSION // 2
    beat_at(given, elsewhere, a)
    given.now = written + SESSION // 4 - 1
    assert beat_at(given, elsewhere, a) is None
    given.now += 1
    assert beat_at(given, elsewhere, a) is GroupError.REBALANCE_IN_PROGRESS


def test_a_member_that_is_heard_by_another_process_is_written_once():
    given, here, there = Given(), MemberHeartbeats("here", {}), MemberHeartbeats("there", {})
    (a,) = given.stable("a")
    beat_at(given, here, a)
    before = given.group
    beat_at(given, there, a)
    assert given.group.members[a].answered_by == "there"
    moved = given.group
    assert moved is not before
    beat_at(given, there, a)
    assert given.group is moved


def test_a_dead_member_is_put_out_in_time_though_the_clock_was_set_back():
    given = Given(now=2 * HOUR)
    a, b = given.stable("a", "b")
    given.now -= HOUR
    given.beat(a, 1)
    given.now += SESSION // 2
    given.beat(a, 1)
    given.now += SESSION // 2 + SESSION // 4
    assert given.beat(a, 1) is GroupError.REBALANCE_IN_PROGRESS
    assert b not in given.group.members


def test_those_who_only_look_see_no_member_for_longer_than_its_session_either():
    given = Given(now=2 * HOUR)
    given.stable("a", "b")
    given.now -= HOUR
    assert len(described(given.group, given.now).members) == 2


def test_a_rebalance_ends_in_time_though_the_clock_was_set_back():
    given = Given(now=2 * HOUR)
    a, _b = given.stable("a", "b")
    parked = given.join(a)
    given.now -= HOUR
    parked = given.ask(parked.ask)
    assert isinstance(parked, Parked)
    assert parked.deadline_ms <= given.now + REBALANCE


def test_an_id_that_was_given_out_lapses_in_time_though_the_clock_was_set_back():
    given = Given(now=2 * HOUR)
    given.join(requires_id=True)
    given.now -= HOUR
    given.join(client_id="other")
    assert max(given.group.pending.values()) <= given.now + SESSION


def test_a_consumer_is_put_out_in_time_though_the_clock_was_set_back():
    given = Given(now=2 * HOUR, settings=GroupSettings(consumer_session_timeout_ms=SESSION))
    given.heartbeat("A", 0)
    given.heartbeat("B", 0)
    given.now -= HOUR
    for _ in range(3):
        given.heartbeat("A", given.group.members["A"].epoch, owned=frozenset())
        given.now += SESSION // 2
    given.heartbeat("A", given.group.members["A"].epoch, owned=frozenset())
    assert set(given.group.members) == {"A"}


def test_the_session_of_a_consumer_ends_exactly_where_it_is_heard():
    given = Given(settings=GroupSettings(consumer_session_timeout_ms=SESSION))
    here = MemberHeartbeats("here", {})

    def say(member_id, epoch, **more):
        said = ConsumerHeartbeat(member_id, epoch, known=given.topics, **more)
        done = step(given.group, said, given.now, given.settings, here)
        given.group, here.answered_ms[member_id] = done.group, given.now
        return done.answer

    joins = {"rebalance_timeout_ms": REBALANCE, "topics": ("t",), "owned": frozenset()}
    for member_id in "AB":
        epoch = say(member_id, 0, **joins).epoch
    given.now += SESSION // 4 - 1
    before = given.group
    say("B", epoch)
    assert given.group is before  # not worth a write
    ends = given.now + SESSION
    for when in (ends - SESSION // 2, ends - 1):
        given.now = when
        say("A", given.group.members["A"].epoch, owned=frozenset())
        assert set(given.group.members) == {"A", "B"}
    given.now = ends
    say("A", given.group.members["A"].epoch, owned=frozenset())
    assert set(given.group.members) == {"A"}


def test_the_epoch_after_the_last_one_is_the_first():
    given = Given()
    given.heartbeat("A", 0)
    last = 2**31 - 1
    member = given.group.members["A"]._replace(epoch=last, previous_epoch=last)
    given.group = given.group._replace(epoch=last, assignment_epoch=last, members={"A": member})
    assert given.heartbeat("A", last, topics=("t", "u"), owned=frozenset()).epoch == 1


def test_many_small_steps_back_do_not_add_up():
    given = Given(now=2 * HOUR, settings=GroupSettings(initial_rebalance_delay_ms=0))
    a, b = given.stable("a", "b")
    for _ in range(100):
        given.now -= 900
        given.beat(a, 1)
    end = given.group.members[b].deadline_ms
    assert end <= given.now + SESSION + 1_000


def test_a_rebalance_timeout_of_a_client_that_asks_for_weeks_is_cut():
    given = Given()
    parked = given.join(rebalance_timeout_ms=2**31 - 1)
    given.now += 3 * DELAY
    given.ask(parked.ask)
    assert given.group.phase_ends_ms <= given.now + given.settings.max_rebalance_timeout_ms


def test_the_generation_after_the_last_one_is_the_first():
    given = Given()
    a, _b = given.stable("a", "b")
    given.group = given.group._replace(generation=2**31 - 1)
    parked = given.join(a)
    given.now += REBALANCE
    assert given.ask(parked.ask).generation == 1
