"""Members of a group on raw sockets: each says exactly what a test wants said."""

from collections.abc import Callable
from typing import Any

from server.peer import Peer
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    heartbeat,
    join_group,
    leave_group,
    offset_commit,
    offset_fetch,
    sync_group,
)

JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT, FETCH = 9, 5, 4, 5, 9, 9
SESSION_MS = 10_000


def subscription(*topics: str) -> bytes:
    """What a consumer says when it joins, in version 0 of the embedded protocol."""
    names = b"".join(len(name).to_bytes(2, "big") + name.encode() for name in topics)
    return b"\0\0" + len(topics).to_bytes(4, "big") + names + b"\xff\xff\xff\xff"


METADATA = subscription("nothing")


class Member:
    """One member on a connection of its own. What it was told last is in its attributes."""

    def __init__(self, peer: Peer, group: str, **joining: Any) -> None:
        self.peer = peer
        self.group = group
        self.joining = {"session_timeout_ms": SESSION_MS, "rebalance_timeout_ms": 30_000, **joining}
        self.instance_id: str | None = self.joining.pop("instance_id", None)
        self.protocols = self.joining.pop("protocols", (("range", METADATA),))
        self.member_id = ""
        self.generation = -1
        self.joined: Any = None

    @property
    def leads(self) -> bool:
        return bool(self.member_id) and self.joined.leader == self.member_id

    # Join and sync may be parked, so their two halves are apart.

    def send_join(self, version: int = JOIN) -> None:
        row = join_group.REQUEST(
            group_id=self.group,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[join_group.PROTOCOL(name=n, metadata=m) for n, m in self.protocols],
            **self.joining,
        )
        self.peer.send(ApiKey.JOIN_GROUP, version, row)

    def hear_join(self) -> Any:
        self.joined = self.peer.answer()
        if self.joined.error_code == ErrorCode.NONE:
            self.member_id = self.joined.member_id
            self.generation = self.joined.generation_id
        return self.joined

    def get_id(self) -> None:
        self.send_join()
        asked = self.peer.answer()
        assert asked.error_code == ErrorCode.MEMBER_ID_REQUIRED, ErrorCode(asked.error_code)
        self.member_id = asked.member_id

    def ask_to_join(self, other: "Member") -> None:
        """Of a group that `other` is in, and wait until that one is told so."""
        self.get_id()
        self.send_join()
        assert eventually(lambda: other.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS)

    def join(self) -> Any:
        if not self.member_id and self.instance_id is None:
            self.get_id()
        self.send_join()
        joined = self.hear_join()
        assert joined.error_code == ErrorCode.NONE, ErrorCode(joined.error_code)
        return joined

    def send_sync(self, assign: Callable[[str], bytes] | None = None, version: int = SYNC) -> None:
        members = self.joined.members if assign else []
        row = sync_group.REQUEST(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocol_name=self.protocols[0][0],
            assignments=[
                sync_group.ASSIGNMENT(member_id=m.member_id, assignment=assign(m.member_id))
                for m in members
                if assign
            ],
        )
        self.peer.send(ApiKey.SYNC_GROUP, version, row)

    def sync(self, assign: Callable[[str], bytes] | None = None) -> Any:
        self.send_sync(assign)
        return self.peer.answer()

    def heartbeat(self, version: int = HEARTBEAT, **other: Any) -> ErrorCode:
        row = heartbeat.REQUEST(
            **{
                "group_id": self.group,
                "generation_id": self.generation,
                "member_id": self.member_id,
                "group_instance_id": self.instance_id,
                **other,
            }
        )
        return ErrorCode(self.peer.ask(ApiKey.HEARTBEAT, version, row).error_code)

    def leave(self) -> ErrorCode:
        row = leave_group.REQUEST(
            group_id=self.group,
            members=[
                leave_group.MEMBER(member_id=self.member_id, group_instance_id=self.instance_id)
            ],
        )
        answer = self.peer.ask(ApiKey.LEAVE_GROUP, LEAVE, row)
        return ErrorCode(answer.error_code or answer.members[0].error_code)

    def commit(self, topic: str, offset: int, partition: int = 0, **other: Any) -> ErrorCode:
        return commit(
            self.peer,
            self.group,
            {(topic, partition): offset},
            **{
                "generation_id_or_member_epoch": self.generation,
                "member_id": self.member_id,
                "group_instance_id": self.instance_id,
                **other,
            },
        )[topic, partition]


def alone(peer: Peer, group: str, **joining: Any) -> Member:
    """The only member of a stable group."""
    member = Member(peer, group, **joining)
    member.join()
    assert member.leads
    assert member.sync(lambda _: b"everything").assignment == b"everything"
    return member


def commit_row(group: str, offsets: dict[tuple[str, int], int], **other: Any) -> Any:
    metadata = other.pop("metadata", "")
    topics: dict[str, list[Any]] = {}
    for (topic, partition), offset in offsets.items():
        topics.setdefault(topic, []).append(
            offset_commit.PARTITION(
                partition_index=partition, committed_offset=offset, committed_metadata=metadata
            )
        )
    rows = [offset_commit.TOPIC(name=name, partitions=rows) for name, rows in topics.items()]
    return offset_commit.REQUEST(group_id=group, topics=rows, **other)


def commit(
    peer: Peer, group: str, offsets: dict[tuple[str, int], int], version: int = COMMIT, **other: Any
) -> dict[tuple[str, int], ErrorCode]:
    answer = peer.ask(ApiKey.OFFSET_COMMIT, version, commit_row(group, offsets, **other))
    return {
        (topic.name, partition.partition_index): ErrorCode(partition.error_code)
        for topic in answer.topics
        for partition in topic.partitions
    }


def fetch_offsets(
    peer: Peer, group: str, topics: dict[str, list[int]] | None = None, version: int = FETCH
) -> Any:
    """The answer for one group, whichever the version."""
    if version >= 8:
        rows = topics and [
            offset_fetch.GROUP_TOPIC(name=name, partition_indexes=numbers)
            for name, numbers in topics.items()
        ]
        asked = offset_fetch.GROUP(group_id=group, topics=rows)
        row = offset_fetch.REQUEST(groups=[asked])
        return peer.ask(ApiKey.OFFSET_FETCH, version, row).groups[0]
    old_rows = topics and [
        offset_fetch.TOPIC(name=name, partition_indexes=numbers) for name, numbers in topics.items()
    ]
    row = offset_fetch.REQUEST(group_id=group, topics=old_rows)
    return peer.ask(ApiKey.OFFSET_FETCH, version, row)


def committed(peer: Peer, group: str, **how: Any) -> dict[tuple[str, int], int]:
    """All that the group has committed, or what is asked for."""
    answer = fetch_offsets(peer, group, **how)
    assert answer.error_code == ErrorCode.NONE
    return {
        (topic.name, partition.partition_index): partition.committed_offset
        for topic in answer.topics
        for partition in topic.partitions
    }
