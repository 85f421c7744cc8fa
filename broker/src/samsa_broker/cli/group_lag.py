"""A group's lag, and which member reads which partition."""

import argparse
from typing import Any, NamedTuple

from samsa.groups.embedded import Malformed, read_assignment
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.group_offsets import LAST_BY_NAME, Where, fetch_request, fetched
from samsa.wire.messages import consumer_group_describe, describe_groups

from .client import Client, ClientError, check
from .topics import LATEST, offsets_at

DEAD = "Dead"


class PartitionReader(NamedTuple):
    member_id: str
    client_id: str
    host: str


class Group(NamedTuple):
    state: str
    kind: str
    members: int
    readers: dict[Where, PartitionReader]


def describe_one(given: argparse.Namespace) -> int:
    client = Client.of(given)
    group = group_of(client, given.group)
    offsets = committed(client, given.group)
    print(f"{given.group}\t{group.state}\t{group.kind}\t{group.members} member(s)")
    for where in sorted({*offsets, *group.readers}):
        print("  " + _line(client, where, offsets.get(where), group.readers.get(where)))
    return 0


def _line(client: Client, where: Where, offset: int | None, reader: PartitionReader | None) -> str:
    topic, number = where
    try:
        end: int | None = offsets_at(client, topic, [number], LATEST)[number]
    except ClientError:
        end = None  # the topic is gone
    lag = None if end is None or offset is None else max(0, end - offset)
    shown = [("offset", offset), ("end", end), ("lag", lag)]
    parts = [f"{topic}\tpartition {number}"]
    parts += [f"{name} {'-' if value is None else value}" for name, value in shown]
    parts.append(f"{reader.member_id} at {reader.host}" if reader else "no reader")
    return "\t".join(parts)


def group_of(client: Client, name: str) -> Group:
    """Finds a group of either protocol."""
    row = consumer_group_describe.REQUEST(group_ids=[name])
    (seen,) = client.ask(ApiKey.CONSUMER_GROUP_DESCRIBE, row).groups
    if seen.error_code == ErrorCode.NONE:
        return Group(seen.group_state, "consumer", len(seen.members), _consumers(seen))
    (seen,) = client.ask(ApiKey.DESCRIBE_GROUPS, describe_groups.REQUEST(groups=[name])).groups
    check(seen.error_code, seen.error_message, f"group {name!r}")
    if seen.group_state == DEAD:
        raise ClientError(f"there is no group {name!r}")
    return Group(seen.group_state, "classic", len(seen.members), _classic(seen))


def _consumers(seen: Any) -> dict[Where, PartitionReader]:
    return {
        (topic.topic_name, number): PartitionReader(
            member.member_id, member.client_id, member.client_host
        )
        for member in seen.members
        for topic in member.assignment.topic_partitions
        for number in topic.partitions
    }


def _classic(seen: Any) -> dict[Where, PartitionReader]:
    readers = {}
    for member in seen.members:
        reader = PartitionReader(member.member_id, member.client_id, member.client_host)
        try:
            assigned = read_assignment(bytes(member.member_assignment))
        except Malformed:
            continue  # not a consumer, or it has no assignment yet
        readers.update(dict.fromkeys(assigned, reader))
    return readers


def committed(client: Client, name: str) -> dict[Where, int]:
    (answer,) = client.ask(ApiKey.OFFSET_FETCH, fetch_request(name), LAST_BY_NAME).groups
    check(answer.error_code, None, f"group {name!r}")
    return fetched(answer)
