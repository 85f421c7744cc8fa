"""Consumer groups of the classic protocol, on the wire: join, sync, heartbeat, leave."""

import time
from collections.abc import Callable

import pytest
from server.members import METADATA, Member, alone
from server.peer import Peer
from server.process import Samsa
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    describe_transactions,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    sync_group,
)

Connect = Callable[[], Peer]


@pytest.mark.parametrize("version", range(7))
def test_the_coordinator_is_where_the_client_already_is(samsa: Samsa, peer: Peer, version: int):
    row = find_coordinator.REQUEST(key="family", coordinator_keys=["family", "other"])
    answer = peer.ask(ApiKey.FIND_COORDINATOR, version, row)
    found = answer.coordinators if version >= 4 else [answer]
    assert [(each.node_id, each.host, each.port) for each in found] == [
        (0, *samsa.address) for _ in found
    ]
    assert {each.error_code for each in found} == {ErrorCode.NONE}
    if version >= 4:
        assert [each.key for each in found] == ["family", "other"]


@pytest.mark.parametrize("key_type", [2, 7])
def test_only_groups_and_transactions_have_a_coordinator(peer: Peer, key_type: int):
    row = find_coordinator.REQUEST(key_type=key_type, coordinator_keys=["x"])
    answer = peer.ask(ApiKey.FIND_COORDINATOR, 6, row).coordinators[0]
    assert (answer.error_code, answer.node_id) == (ErrorCode.INVALID_REQUEST, -1)


def test_who_looks_for_a_transaction_finds_that_there_is_none(peer: Peer):
    row = find_coordinator.REQUEST(key_type=1, coordinator_keys=["x"])
    (found,) = peer.ask(ApiKey.FIND_COORDINATOR, 6, row).coordinators
    assert (found.error_code, found.node_id) == (ErrorCode.NONE, 0)
    asked = describe_transactions.REQUEST(transactional_ids=["x"])
    (state,) = peer.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, asked).transaction_states
    assert state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def test_from_version_5_on_a_sync_must_name_the_groups_protocol(peer: Peer, new_name: str):
    member = Member(peer, new_name)
    member.join()
    row = sync_group.REQUEST(group_id=new_name, generation_id=1, member_id=member.member_id)
    for protocol_type, name in ((None, None), ("consumer", None), ("consumer", "odd")):
        row.protocol_type, row.protocol_name = protocol_type, name
        answer = peer.ask(ApiKey.SYNC_GROUP, 5, row)
        assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert peer.ask(ApiKey.SYNC_GROUP, 4, row).error_code == ErrorCode.NONE


def test_a_member_joins_with_the_id_that_it_is_given(peer: Peer, new_name: str):
    member = Member(peer, new_name)
    member.get_id()
    assert member.member_id.startswith("peer-")
    joined = member.join()
    assert (joined.generation_id, joined.leader) == (1, member.member_id)
    assert (joined.protocol_type, joined.protocol_name) == ("consumer", "range")
    assert [(m.member_id, bytes(m.metadata)) for m in joined.members] == [
        (member.member_id, METADATA)
    ]


@pytest.mark.parametrize("version", range(10))
def test_every_version_of_join_leads_into_the_group(peer: Peer, new_name: str, version: int):
    member = Member(peer, new_name)
    member.send_join(version)
    joined = member.hear_join()
    if version >= 4:
        assert joined.error_code == ErrorCode.MEMBER_ID_REQUIRED
        member.member_id = joined.member_id
        member.send_join(version)
        joined = member.hear_join()
    assert (joined.error_code, joined.generation_id) == (ErrorCode.NONE, 1)
    assert member.leads
    assert joined.protocol_type == ("consumer" if version >= 7 else None)
    assert member.heartbeat() == ErrorCode.NONE


@pytest.mark.parametrize("version", range(6))
def test_every_version_of_sync_brings_the_assignment(peer: Peer, new_name: str, version: int):
    member = Member(peer, new_name)
    member.join()
    member.send_sync(lambda _: b"mine", version)
    synced = member.peer.answer()
    assert (synced.error_code, bytes(synced.assignment)) == (ErrorCode.NONE, b"mine")
    assert synced.protocol_name == ("range" if version >= 5 else None)


def test_two_members_share_a_generation_and_each_gets_its_own_assignment(
    connect: Connect, new_name: str
):
    first, second = alone(connect(), new_name), Member(connect(), new_name)
    second.ask_to_join(first)
    first.join()
    second.hear_join()
    assert first.generation == second.generation == 2
    assert (first.leads, second.leads) == (True, False)
    assert {m.member_id for m in first.joined.members} == {first.member_id, second.member_id}
    assert second.joined.members == []
    second.send_sync()
    mine = first.sync(lambda member: f"for {member}".encode())
    assert bytes(mine.assignment) == f"for {first.member_id}".encode()
    assert bytes(second.peer.answer().assignment) == f"for {second.member_id}".encode()
    assert first.heartbeat() == second.heartbeat() == ErrorCode.NONE


def test_a_member_that_leaves_makes_the_others_join_again(connect: Connect, new_name: str):
    first, second = together(connect, new_name)
    assert second.leave() == ErrorCode.NONE
    assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert len(first.join().members) == 1


def together(connect: Connect, group: str) -> tuple[Member, Member]:
    """A stable group of two, the first of them its leader."""
    first, second = alone(connect(), group), Member(connect(), group)
    second.ask_to_join(first)
    first.join()
    second.hear_join()
    second.send_sync()
    first.sync(lambda _: b"half")
    second.peer.answer()
    return first, second


def test_a_silent_member_is_expired_by_whoever_comes_next(samsa: Samsa, new_name: str):
    with samsa.peer() as first_peer, samsa.peer() as second_peer:
        silent = alone(first_peer, new_name, session_timeout_ms=6_000)
        started = time.monotonic()
        other = Member(second_peer, new_name, rebalance_timeout_ms=60_000)
        joined = other.join()
        took = time.monotonic() - started
    assert [m.member_id for m in joined.members] == [other.member_id]
    assert silent.member_id != other.member_id
    assert 5 < took < 12


def test_a_static_member_that_comes_back_keeps_its_assignment(connect: Connect, new_name: str):
    first = alone(connect(), new_name, instance_id="desk")
    again = Member(connect(), new_name, instance_id="desk")
    joined = again.join()
    assert again.member_id != first.member_id
    assert joined.generation_id == first.generation
    assert bytes(again.sync().assignment) == b"everything"
    assert first.heartbeat() == ErrorCode.FENCED_INSTANCE_ID


def test_an_administrator_removes_a_static_member_by_its_instance_id(
    connect: Connect, new_name: str
):
    member = alone(connect(), new_name, instance_id="desk")
    row = leave_group.REQUEST(
        group_id=new_name,
        members=[
            leave_group.MEMBER(group_instance_id="desk"),
            leave_group.MEMBER(group_instance_id="nobody"),
        ],
    )
    answer = connect().ask(ApiKey.LEAVE_GROUP, 5, row)
    assert [m.error_code for m in answer.members] == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]
    assert member.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", range(3))
def test_old_versions_of_leave_name_one_member(peer: Peer, new_name: str, version: int):
    member = alone(peer, new_name)

    def leave() -> int:
        row = leave_group.REQUEST(group_id=new_name, member_id=member.member_id)
        return peer.ask(ApiKey.LEAVE_GROUP, version, row).error_code

    assert leave() == ErrorCode.NONE
    assert leave() == ErrorCode.UNKNOWN_MEMBER_ID


def test_strangers_and_old_generations_are_refused(peer: Peer, new_name: str):
    assert Member(peer, new_name).heartbeat(member_id="x") == ErrorCode.UNKNOWN_MEMBER_ID
    member = alone(peer, new_name)
    assert member.heartbeat(member_id="x") == ErrorCode.UNKNOWN_MEMBER_ID
    assert member.heartbeat(generation_id=7) == ErrorCode.ILLEGAL_GENERATION
    member.generation = 7
    assert member.sync().error_code == ErrorCode.ILLEGAL_GENERATION


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_heartbeat_is_heard(peer: Peer, new_name: str, version: int):
    assert alone(peer, new_name).heartbeat(version) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("key", "row"),
    [
        (ApiKey.JOIN_GROUP, join_group.REQUEST(session_timeout_ms=10_000)),
        (ApiKey.SYNC_GROUP, sync_group.REQUEST()),
        (ApiKey.HEARTBEAT, heartbeat.REQUEST()),
        (ApiKey.LEAVE_GROUP, leave_group.REQUEST()),
    ],
    ids=["join", "sync", "heartbeat", "leave"],
)
def test_a_group_needs_a_name(peer: Peer, key: ApiKey, row: object):
    for version in (0, 4):
        assert peer.ask(key, version, row).error_code == ErrorCode.INVALID_GROUP_ID


def test_a_session_timeout_must_be_within_limits(peer: Peer, new_name: str):
    member = Member(peer, new_name, session_timeout_ms=1)
    member.send_join()
    assert member.hear_join().error_code == ErrorCode.INVALID_SESSION_TIMEOUT


def test_a_member_that_can_do_nothing_in_common_is_refused(connect: Connect, new_name: str):
    alone(connect(), new_name)
    odd = Member(connect(), new_name, protocols=(("odd", METADATA),))
    odd.send_join()
    assert odd.hear_join().error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_client_that_hangs_up_while_it_joins_without_an_id_is_not_waited_for(
    connect: Connect, new_name: str
):
    first, ghost = alone(connect(), new_name), Member(connect(), new_name)
    ghost.send_join(version=3)
    assert eventually(lambda: first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS)
    ghost.peer.close()
    time.sleep(0.2)
    assert len(first.join().members) == 1


def test_a_follower_that_hangs_up_while_it_waits_comes_back_to_its_assignment(
    connect: Connect, new_name: str
):
    first, second = together(connect, new_name)
    first.send_join()
    assert eventually(lambda: second.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS)
    second.join()
    first.hear_join()
    second.send_sync()
    time.sleep(0.1)
    second.peer.close()
    second.peer = connect()
    second.send_sync()
    first.sync(lambda member: member.encode())
    assert bytes(second.peer.answer().assignment) == second.member_id.encode()


def test_a_parked_join_does_not_hold_up_the_end_of_the_broker(
    tmp_path_factory: pytest.TempPathFactory, new_name: str
):
    samsa = Samsa(tmp_path_factory.mktemp("ending"))
    with samsa.peer() as one, samsa.peer() as other:
        alone(one, new_name)
        parked = Member(other, new_name)
        parked.get_id()
        parked.send_join()
        time.sleep(0.2)
        started = time.monotonic()
        samsa.end()
        assert time.monotonic() - started < 5
        assert parked.peer.is_closed()
