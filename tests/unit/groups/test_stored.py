"""Groups as bytes."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.groups.given import Given

from samsa.groups import ClassicGroup, ConsumerGroup, CorruptGroup, pack, unpack
from samsa.groups.classic_state import ClassicMember, ClassicState, Stage
from samsa.groups.consumer_state import ClassicSide, ConsumerMember, MemberState
from samsa.groups.requests import TopicInfo

TEXT = st.text(max_size=12)
MAYBE = st.none() | TEXT
TIME = st.integers(0, 1 << 62)
COUNT = st.integers(0, (1 << 31) - 1)
BYTES = st.binary(max_size=40)
PROTOCOLS = st.lists(st.tuples(TEXT, BYTES), max_size=3).map(tuple)
PARTITIONS = st.frozensets(
    st.tuples(st.sampled_from([UUID(int=1), UUID(int=1 << 120)]), COUNT), max_size=6
)
MEMBER = st.builds(
    ClassicMember,
    instance_id=MAYBE,
    client_id=TEXT,
    client_host=TEXT,
    session_timeout_ms=COUNT,
    rebalance_timeout_ms=COUNT,
    protocols=PROTOCOLS,
    stage=st.sampled_from(Stage),
    deadline_ms=TIME,
    is_new=st.booleans(),
    ticket=TEXT,
    waiter=TEXT,
    assignment=BYTES,
    answered_by=TEXT,
)
CLASSIC = st.builds(
    ClassicGroup,
    state=st.sampled_from(ClassicState),
    generation=COUNT,
    protocol_type=MAYBE,
    protocol=MAYBE,
    leader=MAYBE,
    members=st.dictionaries(TEXT, MEMBER, max_size=4),
    pending=st.dictionaries(TEXT, TIME, max_size=3),
    changed_at_ms=TIME,
    phase_ends_ms=TIME,
    first_phase_ends_ms=TIME,
    newcomers=st.booleans(),
    due_ms=TIME,
    written_at_ms=TIME,
)
SIDE = st.builds(
    ClassicSide,
    session_timeout_ms=COUNT,
    protocols=PROTOCOLS,
    join_by_ms=TIME,
    sync_by_ms=TIME,
)
CONSUMER_MEMBER = st.builds(
    ConsumerMember,
    instance_id=MAYBE,
    rack_id=MAYBE,
    client_id=TEXT,
    client_host=TEXT,
    rebalance_timeout_ms=COUNT,
    topics=st.lists(TEXT, max_size=4).map(tuple),
    pattern=TEXT,
    assignor=MAYBE,
    epoch=st.integers(-2, 1 << 30),
    previous_epoch=st.integers(-2, 1 << 30),
    state=st.sampled_from(MemberState),
    assigned=PARTITIONS,
    revoking=PARTITIONS,
    session_ends_ms=TIME,
    revoke_by_ms=TIME,
    classic=st.none() | SIDE,
    answered_by=TEXT,
)


@st.composite
def consumer_groups(draw) -> ConsumerGroup:
    members = draw(st.dictionaries(TEXT, CONSUMER_MEMBER, max_size=4))
    targets = {each: draw(PARTITIONS) for each in members}
    topic = st.builds(TopicInfo, st.uuids(), COUNT)
    return ConsumerGroup(
        draw(COUNT),
        draw(COUNT),
        members,
        {each: target for each, target in targets.items() if target},
        draw(st.dictionaries(TEXT, topic, max_size=3)),
        draw(st.dictionaries(TEXT, st.lists(TEXT, max_size=3).map(tuple), max_size=3)),
        draw(TIME),
        draw(TIME),
        draw(TIME),
        draw(TIME),
    )


@given(CLASSIC | consumer_groups())
def test_what_is_stored_is_read_back(group):
    assert unpack(pack(group)) == group
    assert pack(unpack(pack(group))) == pack(group)


@given(CLASSIC | consumer_groups(), st.data())
def test_a_group_that_was_cut_short_is_noticed(group, data):
    packed = pack(group)
    short = packed[: data.draw(st.integers(1, len(packed) - 1))]
    with pytest.raises(CorruptGroup):
        unpack(short)


def test_a_group_that_was_cut_between_two_partitions_is_noticed():
    some = frozenset((UUID(int=1), partition) for partition in range(3))
    member = ConsumerMember(
        instance_id=None,
        rack_id=None,
        client_id="client",
        client_host="host",
        rebalance_timeout_ms=1_000,
        topics=("letters",),
        pattern="",
        assignor=None,
        epoch=1,
        previous_epoch=0,
        state=MemberState.STABLE,
        assigned=some,
        revoking=some,
        session_ends_ms=1,
        revoke_by_ms=2,
        classic=None,
    )
    packed = pack(ConsumerGroup(1, 1, {"m": member}, {"m": some}, {}, {}, 0, 0, 0))
    for end in range(1, len(packed)):
        with pytest.raises(CorruptGroup):
            unpack(packed[:end])


@given(st.binary(min_size=1, max_size=200))
def test_any_other_bytes_are_corrupt_or_a_group(data):
    try:
        unpack(data)
    except CorruptGroup:
        return


def test_a_later_version_is_not_mistaken_for_ours():
    with pytest.raises(CorruptGroup):
        unpack(b"\x7f")


def test_a_hundred_members_with_a_kilobyte_each_fit_into_one_item():
    given = Given()
    metadata = (("range", b"m" * 1_024), ("cooperative-sticky", b"c" * 1_024))
    parked = [given.join(client_id=f"client-{n}", protocols=metadata) for n in range(100)]
    given.now += 60_000
    for answer in parked:
        given.ask(answer.ask)
    leader = given.group.leader
    given.sync(leader, 1, dict.fromkeys(given.group.members, b"a" * 1024))
    assert len(given.group.members) == 100
    assert len(pack(given.group)) < 400_000
