"""Groups of the consumer protocol (KIP-848), on the wire."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from server.members import commit, committed, fetch_offsets
from server.peer import Peer
from server.talk import create, describe
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import consumer_group_describe, list_groups, offset_fetch
from samsa.wire.messages.consumer_group_heartbeat import REQUEST, TOPIC_PARTITIONS

Connect = Callable[[], Peer]


class Consumer:
    """A member that owns what it is told to own, as soon as it is told."""

    def __init__(self, peer: Peer, group: str, *topics: str, **more: Any) -> None:
        self.peer = peer
        self.group = group
        self.topics = list(topics)
        self.more = more
        self.member_id = str(uuid.uuid4())
        self.epoch = 0
        self.owned: set[tuple[uuid.UUID, int]] = set()

    def say(self, version: int = 1, **what: Any) -> Any:
        row = REQUEST(group_id=self.group, member_id=self.member_id, member_epoch=self.epoch)
        for name, value in what.items():
            setattr(row, name, value)
        return self.peer.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, version, row)

    def beat(self, **what: Any) -> Any:
        whole = {
            "rebalance_timeout_ms": 30_000,
            "subscribed_topic_names": self.topics,
            "topic_partitions": self._owned(),
            **self.more,
        }
        heard = self.say(**{**(whole if self.epoch == 0 else {}), **what})
        assert heard.error_code == ErrorCode.NONE, (ErrorCode(heard.error_code), heard)
        self.epoch, self.member_id = heard.member_epoch, heard.member_id
        if heard.assignment is not None:
            told = {
                (t.topic_id, n) for t in heard.assignment.topic_partitions for n in t.partitions
            }
            changed, self.owned = told != self.owned, told
            if changed and self.epoch > 0:
                return self.beat(topic_partitions=self._owned())
        return heard

    def _owned(self) -> list[Any]:
        topics: dict[uuid.UUID, list[int]] = {}
        for topic_id, number in sorted(self.owned):
            topics.setdefault(topic_id, []).append(number)
        return [TOPIC_PARTITIONS(topic_id=t, partitions=n) for t, n in topics.items()]

    @property
    def numbers(self) -> list[int]:
        return sorted(number for _, number in self.owned)


@pytest.fixture
def four(connect: Connect, new_name: str) -> str:
    create(connect(), new_name, partitions=4)
    return new_name


def settled(*members: Consumer) -> bool:
    """Whether all have what they should: Kafka, too, takes some heartbeats to lead them there."""

    def complete() -> bool:
        for member in members:
            member.beat()
        told = sorted(n for member in members for n in member.numbers)
        return told == [0, 1, 2, 3] and all(member.numbers for member in members)

    return eventually(complete)


def test_a_lone_member_gets_every_partition(peer: Peer, four: str):
    member = Consumer(peer, f"g-{four}", four)
    heard = member.beat()
    assert heard.heartbeat_interval_ms == 5_000
    assert settled(member)
    assert member.say().assignment is None


def test_a_second_member_gets_what_the_first_lets_go(connect: Connect, four: str):
    group = f"g-{four}"
    first, second = Consumer(connect(), group, four), Consumer(connect(), group, four)
    assert settled(first)
    second.beat()
    assert second.numbers == []
    assert settled(first, second)
    assert len(first.numbers) == len(second.numbers) == 2
    first.epoch = -1
    assert first.say().member_epoch == -1
    assert settled(second)


def test_a_topic_made_later_is_assigned_too(connect: Connect, new_name: str):
    member = Consumer(connect(), f"g-{new_name}", new_name)
    member.beat()
    assert member.numbers == []
    create(connect(), new_name, partitions=2)

    def assigned() -> bool:
        member.beat()
        return member.numbers == [0, 1]

    assert eventually(assigned)


def test_a_pattern_subscribes_to_what_it_matches(connect: Connect, new_name: str):
    maker = connect()
    for name in (f"{new_name}.a", f"{new_name}.b", f"x{new_name}"):
        create(maker, name)
    member = Consumer(
        connect(), f"g-{new_name}", subscribed_topic_regex=rf"{new_name}\..", rack_id="r"
    )
    names = {t.topic_id: t.name for t in describe(maker).topics}

    def read() -> set[str]:
        member.beat()
        return {names[topic_id] for topic_id, _ in member.owned}

    assert eventually(lambda: read() == {f"{new_name}.a", f"{new_name}.b"})


def test_bad_heartbeats_are_refused_each_with_its_own_error(peer: Peer, four: str):
    member = Consumer(peer, f"g-{four}", four)
    whole = {
        "rebalance_timeout_ms": 1000,
        "subscribed_topic_names": [four],
        "topic_partitions": [],
    }

    def refusal(**what: Any) -> ErrorCode:
        return ErrorCode(member.say(**what).error_code)

    assert refusal(group_id="", **whole) == ErrorCode.INVALID_REQUEST
    assert refusal(member_id="", **whole) == ErrorCode.INVALID_REQUEST
    assert refusal() == ErrorCode.INVALID_REQUEST
    assert refusal(server_assignor="odd", **whole) == ErrorCode.UNSUPPORTED_ASSIGNOR
    bad = {**whole, "subscribed_topic_regex": "(unclosed"}
    assert refusal(**bad) == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert refusal(member_epoch=7) == ErrorCode.GROUP_ID_NOT_FOUND
    member.beat()
    assert refusal(member_epoch=7) == ErrorCode.FENCED_MEMBER_EPOCH
    assert refusal(member_id="stranger") == ErrorCode.UNKNOWN_MEMBER_ID


def test_version_0_has_its_member_id_made_for_it(peer: Peer, four: str):
    member = Consumer(peer, f"g-{four}", four)
    heard = member.say(
        version=0,
        member_id="",
        rebalance_timeout_ms=1000,
        subscribed_topic_names=[four],
        topic_partitions=[],
    )
    assert heard.error_code == ErrorCode.NONE
    assert heard.member_id


def test_only_the_current_epoch_commits_and_fetches(connect: Connect, four: str):
    group = f"g-{four}"
    member = Consumer(connect(), group, four)
    assert settled(member)
    tool, current = connect(), member.epoch

    def store(epoch: int, member_id: str = member.member_id, version: int = 9) -> ErrorCode:
        offsets = {(four, 0): 5}
        named = {"generation_id_or_member_epoch": epoch, "member_id": member_id}
        return commit(tool, group, offsets, version, **named)[four, 0]

    assert store(0) == ErrorCode.STALE_MEMBER_EPOCH
    assert store(current, "stranger") == ErrorCode.UNKNOWN_MEMBER_ID
    assert store(current, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert committed(tool, group) == {}
    assert store(current) == ErrorCode.NONE
    assert committed(tool, group) == {(four, 0): 5}

    def fetch(epoch: int, member_id: str) -> ErrorCode:
        asked = offset_fetch.GROUP(
            group_id=group, member_id=member_id, member_epoch=epoch, topics=None
        )
        row = offset_fetch.REQUEST(groups=[asked])
        return ErrorCode(tool.ask(ApiKey.OFFSET_FETCH, 9, row).groups[0].error_code)

    assert fetch(current, member.member_id) == ErrorCode.NONE
    assert fetch(0, member.member_id) == ErrorCode.STALE_MEMBER_EPOCH
    assert fetch(current, "stranger") == ErrorCode.UNKNOWN_MEMBER_ID
    assert fetch_offsets(tool, group).error_code == ErrorCode.NONE


def test_tools_see_the_group_and_what_each_member_has(connect: Connect, four: str):
    group = f"g-{four}"
    member = Consumer(connect(), group, four, instance_id="desk")
    assert settled(member)
    tool = connect()
    (seen,) = tool.ask(
        ApiKey.CONSUMER_GROUP_DESCRIBE, 1, consumer_group_describe.REQUEST(group_ids=[group])
    ).groups
    assert (seen.error_code, seen.group_state, seen.assignor_name) == (0, "Stable", "uniform")
    assert seen.group_epoch == seen.assignment_epoch == member.epoch
    (shown,) = seen.members
    assert (shown.member_id, shown.instance_id) == (member.member_id, "desk")
    assert (shown.client_id, shown.client_host, shown.member_type) == ("peer", "/127.0.0.1", 1)
    assert shown.subscribed_topic_names == [four]
    for assignment in (shown.assignment, shown.target_assignment):
        (topic,) = assignment.topic_partitions
        assert (topic.topic_name, topic.partitions) == (four, [0, 1, 2, 3])
    row = list_groups.REQUEST(types_filter=["consumer"])
    groups = tool.ask(ApiKey.LIST_GROUPS, 5, row).groups
    assert (group, "consumer", "Stable") in [
        (g.group_id, g.group_type, g.group_state) for g in groups
    ]
