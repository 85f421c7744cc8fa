"""Groups that are full, and requests that no client would send: no one else notices."""

import random
from collections.abc import Callable
from select import select
from typing import Any

import pytest
from server.members import Member, alone, commit
from server.peer import Peer
from server.process import Samsa, a_samsa
from support.waiting import eventually

from samsa.ports.bounds import LONGEST_GROUP_ID
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    consumer_group_heartbeat,
    describe_groups,
    heartbeat,
    join_group,
    leave_group,
    sync_group,
)

Connect = Callable[[], Peer]
FULL = ErrorCode.GROUP_MAX_SIZE_REACHED
CROWD = 110
noise = random.Random(4).randbytes


def state_of(peer: Peer, group: str) -> tuple[str, int]:
    row = describe_groups.REQUEST(groups=[group])
    found = peer.ask(ApiKey.DESCRIBE_GROUPS, 5, row).groups[0]
    return found.group_state, len(found.members)


def crowd(connect: Connect, group: str, metadata: Callable[[], bytes]) -> tuple[list[Member], int]:
    """All but the first join while that one is away; then it comes too. Those that are members, and
    how many were refused."""
    members = [Member(connect(), group, protocols=(("range", metadata()),)) for _ in range(CROWD)]
    first, *others = members
    first.join()
    for each in others:
        each.send_join(version=3)
    assert eventually(lambda: first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS)
    looker = connect()
    assert eventually(lambda: state_of(looker, group)[1] + answered(others) == CROWD)
    first.send_join()
    answers = [each.hear_join() for each in members]
    joined = [each for each in members if each.joined.error_code == ErrorCode.NONE]
    refused = [answer for answer in answers if answer.error_code == FULL]
    assert len(joined) + len(refused) == CROWD
    return joined, len(refused)


def answered(members: list[Member]) -> int:
    """Those that are not parked: they were refused."""
    return len(select([member.peer.socket for member in members], [], [], 0)[0])


def make_stable(members: list[Member]) -> None:
    leader = next(each for each in members if each.leads)
    for each in members:
        each.send_sync((lambda _: b"some") if each is leader else None)
    assert {each.peer.answer().error_code for each in members} == {ErrorCode.NONE}


def test_a_hundred_and_ten_members_that_subscribe_to_the_same_are_stable(
    connect: Connect, peer: Peer, new_name: str
):
    same = noise(4_096)
    members, refused = crowd(connect, new_name, lambda: same)
    assert (len(members), refused) == (CROWD, 0)
    make_stable(members)
    assert state_of(peer, new_name) == ("Stable", CROWD)


def test_a_full_group_refuses_newcomers_and_its_members_are_stable(
    connect: Connect, peer: Peer, new_name: str
):
    members, refused = crowd(connect, new_name, lambda: noise(4_096))
    assert refused
    assert len(members) > CROWD / 3
    make_stable(members)
    assert state_of(peer, new_name) == ("Stable", len(members))
    assert {each.heartbeat() for each in members} == {ErrorCode.NONE}


def test_assignments_that_do_not_fit_leave_the_group_as_it_is(
    connect: Connect, peer: Peer, new_name: str
):
    member = Member(peer, new_name)
    member.join()
    assert member.sync(lambda _: noise(500_000)).error_code == FULL
    assert member.heartbeat() == ErrorCode.NONE
    assert member.sync(lambda _: b"mine").assignment == b"mine"


def test_a_group_takes_as_many_members_as_it_is_told_to(tmp_path: Any):
    options = ("--group-max-size", "1", "--metrics-port", "0")
    with a_samsa(tmp_path, *options) as samsa, samsa.peer() as one:
        member = alone(one, "family")
        with samsa.peer() as two:
            other = Member(two, "family")
            other.send_join()
            assert two.answer().error_code == FULL
            row = consumer_group_heartbeat.REQUEST(
                group_id="others",
                member_id="m",
                member_epoch=0,
                rebalance_timeout_ms=1_000,
                subscribed_topic_names=["t"],
                topic_partitions=[],
            )
            key = ApiKey.CONSUMER_GROUP_HEARTBEAT
            assert two.ask(key, 1, row).error_code == ErrorCode.NONE
            row.member_id = "n"
            assert two.ask(key, 1, row).error_code == FULL
        assert member.heartbeat() == ErrorCode.NONE
        assert samsa.metrics()["samsa_group_refusals_total"] == 2


def test_a_session_is_neither_shorter_nor_longer_than_allowed(tmp_path: Any):
    options = "--group-min-session-timeout-ms", "100", "--group-max-session-timeout-ms", "200"
    with a_samsa(tmp_path, *options) as samsa, samsa.peer() as peer:
        for timeout, code in {
            99: ErrorCode.INVALID_SESSION_TIMEOUT,
            150: ErrorCode.MEMBER_ID_REQUIRED,
            201: ErrorCode.INVALID_SESSION_TIMEOUT,
        }.items():
            member = Member(peer, "family", session_timeout_ms=timeout)
            member.send_join()
            assert peer.answer().error_code == code


def join_row(**changes: Any) -> Any:
    said = {
        "group_id": "family",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 30_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [join_group.PROTOCOL(name="range", metadata=b"")],
        **changes,
    }
    return join_group.REQUEST(**said)


PROTOCOL = join_group.PROTOCOL
HOSTILE: dict[str, tuple[ApiKey, int, Any, set[ErrorCode]]] = {
    "an empty list of protocols": (
        ApiKey.JOIN_GROUP,
        9,
        join_row(protocols=[]),
        {ErrorCode.INCONSISTENT_GROUP_PROTOCOL},
    ),
    "forty thousand protocols": (
        ApiKey.JOIN_GROUP,
        9,
        join_row(protocols=[PROTOCOL(name="p", metadata=b"")] * 40_000),
        {ErrorCode.INCONSISTENT_GROUP_PROTOCOL},
    ),
    "ten megabytes of metadata": (
        ApiKey.JOIN_GROUP,
        9,
        join_row(protocols=[PROTOCOL(name="p", metadata=bytes(10_000_000))]),
        {FULL},
    ),
    "a heartbeat with a negative generation": (
        ApiKey.HEARTBEAT,
        4,
        heartbeat.REQUEST(group_id="family", generation_id=-(2**31), member_id="m"),
        {ErrorCode.UNKNOWN_MEMBER_ID},
    ),
    "a sync for members that nobody knows": (
        ApiKey.SYNC_GROUP,
        5,
        sync_group.REQUEST(
            group_id="family",
            generation_id=2**31 - 1,
            member_id="m",
            protocol_type="consumer",
            protocol_name="range",
            assignments=[sync_group.ASSIGNMENT(member_id="x", assignment=b"y")] * 10_000,
        ),
        {ErrorCode.UNKNOWN_MEMBER_ID},
    ),
    "a leave of ten thousand strangers": (
        ApiKey.LEAVE_GROUP,
        5,
        leave_group.REQUEST(
            group_id="family", members=[leave_group.MEMBER(member_id="m")] * 10_000
        ),
        {ErrorCode.NONE},
    ),
    "a subscription of ten megabytes": (
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        1,
        consumer_group_heartbeat.REQUEST(
            group_id="strangers",
            member_id="m",
            member_epoch=0,
            rebalance_timeout_ms=2**31 - 1,
            subscribed_topic_names=["t" * 10_000] * 1_000,
            topic_partitions=[],
        ),
        {FULL},
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_the_broker_refuses(what: str, samsa: Samsa, peer: Peer):
    key, version, row, codes = HOSTILE[what]
    before = len(samsa.logged())
    assert ErrorCode(peer.ask(key, version, row).error_code) in codes
    assert "Traceback" not in "\n".join(samsa.logged()[before:])


LONGER_THAN_A_STRING: dict[str, Any] = {
    "a protocol's name": join_row(protocols=[PROTOCOL(name="p" * 32_768, metadata=b"")]),
    "a member id": join_row(member_id="m" * 32_768),
    "an instance id": join_row(group_instance_id="i" * 32_768),
    "a group id": join_row(group_id="g" * 100_000),
}


@pytest.mark.parametrize("row", LONGER_THAN_A_STRING.values(), ids=LONGER_THAN_A_STRING)
def test_a_name_that_is_longer_than_kafkas_strings_ends_its_connection(row: Any, samsa: Samsa):
    """As in Kafka, which reads no such request."""
    before = len(samsa.logged())
    with samsa.peer() as peer:
        peer.send(ApiKey.JOIN_GROUP, 9, row)
        assert peer.is_closed()
    assert "Traceback" not in "\n".join(samsa.logged()[before:])


def test_a_group_may_have_any_characters_in_its_name(peer: Peer):
    member = alone(peer, "\0\N{GRINNING FACE}" * (LONGEST_GROUP_ID // 2))
    assert member.heartbeat() == ErrorCode.NONE
    assert member.leave() == ErrorCode.NONE


def test_a_client_with_the_longest_name_joins_in_every_version(samsa: Samsa, new_name: str):
    for version in (0, 3, 4, 5, 9):
        with samsa.peer() as peer:
            row = join_row(group_id=f"{new_name}-{version}")
            frame = bytearray(peer.frame(ApiKey.JOIN_GROUP, version, row))
            at = frame.index(b"\0\x04peer")
            frame[at : at + 6] = b"\x7f\xff" + b"c" * 32_767
            frame[:4] = (len(frame) - 4).to_bytes(4, "big")
            peer.say(bytes(frame))
            answer = peer.answer()
            assert answer.error_code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED)
            assert answer.member_id.startswith("ccc")


@pytest.mark.parametrize("kept_for", [2**63 - 1, -(2**63)])
def test_offsets_may_be_kept_for_any_time(
    kept_for: int, samsa: Samsa, peer: Peer, topic: str, new_name: str
):
    where = {(topic, 0): 1}
    answer = commit(peer, new_name, where, version=2, retention_time_ms=kept_for)
    assert answer == {(topic, 0): ErrorCode.NONE}


def test_metadata_is_counted_as_kafka_counts_it(peer: Peer, topic: str, new_name: str):
    """In characters of UTF-16, of which some need two."""
    faces = "\N{GRINNING FACE}" * 2_048
    where = {(topic, 0): 1}
    assert commit(peer, new_name, where, metadata=faces) == {(topic, 0): ErrorCode.NONE}
    assert commit(peer, new_name, where, metadata=faces + "x") == {
        (topic, 0): ErrorCode.OFFSET_METADATA_TOO_LARGE
    }
