"""The size of a group has a limit, and malformed input is refused."""

import random
import zlib
from uuid import UUID

import pytest
from hypothesis import given as given_that
from hypothesis import strategies as st
from property.groups.subscriptions import subscription
from unit.groups.given import Given

from samsa import groups
from samsa.groups.embedded import (
    Malformed,
    read_assignment,
    read_subscription,
    read_topics,
    read_version,
    write_assignment,
)
from samsa.groups.room import MOST_STORED, MOST_WITH_ASSIGNMENTS, MOST_WITH_NEWCOMERS
from samsa.groups.stored import COMPRESSED, MOST_UNPACKED

JOIN = groups.Join("m", None, "consumer", (("range", b""),), 10_000, 1, "c", "/h", "t")


def test_members_that_subscribe_to_the_same_are_stored_once():
    given = Given()
    noise = random.Random(1).randbytes(4_096)
    for n in range(110):
        given.join(client_id=f"client-{n}", protocols=(("range", noise), ("sticky", noise)))
    assert len(given.group.members) == 110
    assert len(groups.pack(given.group)) < 50_000
    offers = {
        id(member.protocols) for member in groups.unpack(groups.pack(given.group)).members.values()
    }
    assert len(offers) == 1


@pytest.mark.parametrize("kind", ["bomb", "cut", "tail"])
def test_compressed_bytes_that_are_no_group_are_corrupt(kind):
    data = {
        "bomb": zlib.compress(bytes(MOST_UNPACKED + 1)),
        "cut": zlib.compress(b"x" * 5_000)[:-3],
        "tail": zlib.compress(b"x" * 5_000) + b"more",
    }[kind]
    with pytest.raises(groups.CorruptGroup):
        groups.unpack(COMPRESSED + data)


def test_newcomers_leave_room_for_assignments_and_both_for_heartbeats():
    given = Given()
    a, _b = given.stable("a", "b")
    new, old = JOIN, JOIN._replace(member_id=a)
    assert MOST_WITH_NEWCOMERS < MOST_WITH_ASSIGNMENTS < MOST_STORED < 400 * 1024
    assert groups.fits(MOST_WITH_NEWCOMERS, given.group, [new])
    assert not groups.fits(MOST_WITH_NEWCOMERS + 1, given.group, [new])
    assert groups.fits(MOST_STORED, given.group, [old])
    assert not groups.fits(MOST_WITH_ASSIGNMENTS + 1, given.group, [groups.Sync(a, 1)])
    assert not groups.fits(MOST_WITH_ASSIGNMENTS, given.group, [old, new])


def test_an_instance_that_comes_back_to_a_full_group_is_no_newcomer():
    given = Given()
    given.join(instance_id="i")
    back = JOIN._replace(member_id="", instance_id="i")
    assert groups.fits(MOST_STORED, given.group, [back])


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (JOIN._replace(member_id="m" * 40_000), groups.GroupError.INVALID_REQUEST),
        (JOIN._replace(instance_id="i" * 40_000), groups.GroupError.INVALID_REQUEST),
        (JOIN._replace(protocol_type="p" * 40_000), groups.GroupError.INVALID_REQUEST),
        (JOIN._replace(protocols=(("n" * 70_000, b""),)), groups.GroupError.INVALID_REQUEST),
        (JOIN._replace(protocols=(("n", bytes(2**21)),)), groups.GroupError.GROUP_MAX_SIZE_REACHED),
        (groups.ConsumerHeartbeat("m" * 40_000, 0), groups.GroupError.INVALID_REQUEST),
        (groups.ConsumerHeartbeat("m", 0, rack_id="r" * 40_000), groups.GroupError.INVALID_REQUEST),
        (
            groups.ConsumerHeartbeat("m", 0, topics=("t" * 40_000,) * 50),
            groups.GroupError.GROUP_MAX_SIZE_REACHED,
        ),
    ],
)
def test_a_request_that_no_group_has_room_for_is_refused_unseen(request_, error):
    assert groups.why_unfit(request_) is error
    assert groups.refusal(request_, error).error is error


def test_ids_that_were_given_out_count_as_members():
    given = Given(settings=groups.GroupSettings(max_size=3))
    for n in range(3):
        assert given.join(requires_id=True).error is groups.GroupError.MEMBER_ID_REQUIRED, n
    assert given.join(requires_id=True).error is groups.GroupError.GROUP_MAX_SIZE_REACHED
    assert len(given.group.pending) == 3


def test_protocols_of_the_same_name_are_no_obstacle():
    given = Given()
    parked = given.join(protocols=(("range", b"1"), ("range", b"2")))
    given.now += 60_000
    assert given.ask(parked.ask).members[0].metadata == b"1"


def test_assignments_for_members_that_are_not_there_are_not_kept():
    given = Given()
    (a,) = given.stable("a")
    parked = given.join(a, protocols=(("range", b"new"),))
    assert given.sync(a, 2, {a: b"mine", "ghost": b"x" * 1_000}).assignment == b"mine"
    assert parked.generation == 2
    assert list(given.group.members) == [a]


@given_that(st.binary(max_size=200) | st.binary(max_size=60).map(lambda b: b"\0\1\0\0\0\1" + b))
def test_any_bytes_are_a_subscription_or_malformed(data):
    for read in (read_subscription, read_topics, read_assignment):
        try:
            read(data)
        except Malformed:
            continue
    assert 0 <= read_version(data) <= 3


def upgraded(first: bytes, assignment: bytes = b"") -> Given:
    """A classic group whose members name a protocol first that is not elected."""
    given = Given()
    good = subscription(("t",), ())
    protocols = (("first", first), ("range", good))
    a = given.join(protocols=protocols)
    b = given.join(protocols=(("range", good),))
    given.now += 60_000
    a, b = (given.ask(each.ask).member_id for each in (a, b))
    leader = given.group.leader
    follower = b if leader == a else a
    given.sync(leader, 1, {a: assignment, b: b""})
    given.sync(follower, 1)
    given.member = a
    return given


def test_a_group_whose_members_first_offer_cannot_be_read_moves_both_ways():
    given = upgraded(b"\xff")
    assert given.heartbeat("C", 0).error is None
    assert given.sync(given.member, 1).error in (None, groups.GroupError.REBALANCE_IN_PROGRESS)
    assert given.heartbeat("C", -1).error is None
    assert given.group.state is not None


def test_an_assignment_of_partitions_that_do_not_exist_is_not_taken_over():
    given = upgraded(b"", write_assignment(1, [("t", -1), ("t", 0), ("t", 2**31 - 1)]))
    assert given.heartbeat("C", 0).error is None
    topic: UUID = given.topics["t"].id
    assert given.group.members[given.member].assigned == {(topic, 0)}


def test_a_group_that_unpacks_to_too_much_is_not_packed():
    given = Given()
    given.join(protocols=(("range", b""),))
    (member_id,) = given.group.members
    member = given.group.members[member_id]._replace(assignment=bytes(MOST_UNPACKED))
    with pytest.raises(groups.GroupTooLarge):
        groups.pack(given.group._replace(members={member_id: member}))
