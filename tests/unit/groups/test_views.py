"""What tools show of a group."""

from unit.groups.given import SESSION, Given, T, parts

from samsa.groups import consumer_described, described, listed, state_of
from samsa.groups.classic import REACTIONS, TRANSITIONS
from samsa.groups.classic_state import ClassicState
from samsa.groups.consumer_state import MemberState
from samsa.groups.reconcile import TOWARDS


def test_a_stable_group_is_shown_with_metadata_and_assignments():
    given = Given()
    a, b = given.stable("a", "b")
    shown = described(given.group, given.now)
    assert (shown.state, shown.protocol_type, shown.protocol) == ("Stable", "consumer", "range")
    assert [(m.member_id, m.client_id, m.metadata, m.assignment) for m in shown.members] == [
        (a, "a", b"meta", a.encode()),
        (b, "b", b"meta", b.encode()),
    ]


def test_while_a_group_rebalances_assignments_are_not_shown():
    given = Given()
    a, _ = given.stable("a", "b")
    given.join(a)
    shown = described(given.group, given.now)
    assert (shown.state, shown.protocol) == ("PreparingRebalance", "")
    assert {(m.metadata, m.assignment) for m in shown.members} == {(b"", b"")}


def test_a_group_is_shown_as_it_is_now_though_nobody_touched_it():
    given = Given()
    given.stable("a")
    later = given.now + 2 * SESSION
    assert listed(given.group, given.now).state == "Stable"
    assert listed(given.group, later) == ("Empty", "classic", "consumer")
    assert described(given.group, later).members == ()


def test_a_group_of_the_consumer_protocol_is_shown_with_targets():
    given = Given()
    given.heartbeat("A", 0, rack_id="r", assignor="range")
    given.heartbeat("B", 0)
    shown = consumer_described(given.group, given.now)
    assert (shown.state, shown.epoch, shown.assignment_epoch) == ("Reconciling", 2, 2)
    assert shown.assignor == "range"
    first, second = shown.members
    assert (first.rack_id, first.epoch, first.topics) == ("r", 1, ("t",))
    assert first.assigned == parts(T, 0, 1, 2, 3)
    assert first.target | second.target == parts(T, 0, 1, 2, 3)
    assert not first.is_classic


def test_each_kind_is_shown_by_its_own_request():
    given, other = Given(), Given()
    given.heartbeat("A", 0)
    other.stable("a")
    assert described(given.group, given.now) is None
    assert consumer_described(other.group, other.now) is None
    assert listed(given.group, given.now) == ("Stable", "consumer", "consumer")


def test_states_are_named_as_kafka_names_them():
    given = Given()
    names = []
    parked = given.join()
    names.append(state_of(given.group))
    given.now = parked.deadline_ms
    joined = given.ask(parked.ask)
    names.append(state_of(given.group))
    given.sync(joined.member_id, 1)
    names.append(state_of(given.group))
    given.leave((joined.member_id,))
    names.append(state_of(given.group))
    assert names == ["PreparingRebalance", "CompletingRebalance", "Stable", "Empty"]


def test_the_tables_leave_no_state_out():
    for row in (*TRANSITIONS.values(), *REACTIONS.values()):
        assert set(row) == set(ClassicState)
    assert set(TOWARDS) == set(MemberState)
