"""Attacks with long arrays, with patterns, and with very many topics and groups.

Requests are made once and kept: to play them costs the player next to nothing.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from server.process import Samsa
from support.arrays import Path, row_with

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.frame import request_frame
from samsa.wire.messages import (
    consumer_group_heartbeat,
    create_topics,
    describe_groups,
    join_group,
    metadata,
)
from samsa.wire.runtime import varint_bytes

ALLOWED = 45_000
"""Elements, a little less than the broker's limit."""
TOPICS = 3_000
BEATS = 20
PATTERNS = (
    ".*" * 50,
    ".*" * 2_000,
    "(.*)" * 1_000,
    ".*[a-z].{200}",
    "(.{0,30}){0,30}",
    "(?:.*[a-z].{100}){3}.*",
)
NESTED: tuple[tuple[ApiKey, Path], ...] = (
    (ApiKey.PRODUCE, ("topic_data",)),
    (ApiKey.PRODUCE, ("topic_data", "partition_data")),
    (ApiKey.FETCH, ("topics",)),
    (ApiKey.FETCH, ("topics", "partitions")),
    (ApiKey.LIST_OFFSETS, ("topics", "partitions")),
    (ApiKey.OFFSET_COMMIT, ("topics", "partitions")),
    (ApiKey.OFFSET_FETCH, ("groups", "topics", "partition_indexes")),
    (ApiKey.LEAVE_GROUP, ("members",)),
    (ApiKey.OFFSET_DELETE, ("topics", "partitions")),
    (ApiKey.DELETE_TOPICS, ("topics",)),
    (ApiKey.DESCRIBE_CONFIGS, ("resources",)),
    (ApiKey.INCREMENTAL_ALTER_CONFIGS, ("resources",)),
    (ApiKey.CREATE_TOPICS, ("topics", "assignments")),
    (ApiKey.ALTER_PARTITION_REASSIGNMENTS, ("topics", "partitions", "replicas")),
)


def _frame(key: ApiKey, version: int, row: Any) -> bytes:
    return request_frame(APIS[key], version, 1, "attacker", row)


def _send(samsa: Samsa, *frames: bytes) -> list[bytes]:
    """What is answered, until the connection is closed."""
    answers = []
    with samsa.peer() as peer:
        try:
            for frame in frames:
                peer.say(frame)
                answers.append(peer.read_frame())
        except (EOFError, ConnectionError):
            pass
    return answers


# Arrays


@cache
def _metadata(count: int, size: int) -> bytes:
    """For as many names of that size, each another if they are long enough for that."""
    names = [f"{number:0{size}}" if size else "" for number in range(count)]
    topics = [metadata.TOPIC(name=name) for name in names]
    row = metadata.REQUEST(topics=topics, allow_auto_topic_creation=False)
    return _frame(ApiKey.METADATA, 9, row)


def metadata_for_131_000_empty_names(samsa: Samsa) -> None:
    assert _send(samsa, _metadata(131_000, 0)) == [], "more than the limit is refused"


def metadata_for_four_megabytes_of_short_names(samsa: Samsa) -> None:
    assert _send(samsa, _metadata(500_000, 6)) == []


def metadata_for_four_megabytes_of_long_names(samsa: Samsa) -> None:
    assert len(_send(samsa, _metadata(ALLOWED, 90))) == 1


@cache
def _describe_groups() -> bytes:
    groups = [f"group{number}" for number in range(ALLOWED)]
    return _frame(ApiKey.DESCRIBE_GROUPS, 5, describe_groups.REQUEST(groups=groups))


def descriptions_of_very_many_groups(samsa: Samsa) -> None:
    assert len(_send(samsa, _describe_groups())) == 1


@cache
def _nested() -> list[bytes]:
    frames = []
    for key, path in NESTED:
        version = APIS[key].versions[-1]
        row = row_with(APIS[key].request, version, path, ALLOWED)
        if hasattr(row, "group_id"):
            row.group_id = "attackers"
        if hasattr(row, "acks"):
            row.acks = -1
        frames.append(_frame(key, version, row))
    return frames


def long_arrays_of_all_kinds(samsa: Samsa) -> None:
    for frame in _nested():
        _send(samsa, frame)


@cache
def _tagged() -> tuple[bytes, bytes]:
    """A million tagged fields that nobody knows, in the body and in the header."""
    tags = varint_bytes(1_000_000) + b"\x7f\0" * 1_000_000
    frame = _frame(ApiKey.METADATA, 9, metadata.REQUEST(topics=[]))[4:]
    body_tags_at, header = len(frame) - 1, 8 + 2 + len("attacker")
    in_body = frame[:body_tags_at] + tags
    in_header = frame[:header] + tags + frame[header + 1 :]
    return (_sized(in_body), _sized(in_header))


def _sized(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame


def a_million_tagged_fields(samsa: Samsa) -> None:
    for frame in _tagged():
        assert _send(samsa, frame) == []


# Topics


@cache
def _creations(names: tuple[str, ...], partitions: int) -> tuple[bytes, ...]:
    return tuple(
        _create(names[start : start + 500], partitions) for start in range(0, len(names), 500)
    )


def _create(names: Sequence[str], partitions: int) -> bytes:
    topics = [
        create_topics.TOPIC(name=name, num_partitions=partitions, replication_factor=1)
        for name in names
    ]
    row = create_topics.REQUEST(topics=topics, timeout_ms=60_000)
    return _frame(ApiKey.CREATE_TOPICS, 5, row)


@cache
def _many() -> tuple[bytes, ...]:
    return _creations(tuple(f"topic-{number:0200}" for number in range(TOPICS)), 1)


def dotted_names_beside_thousands_of_topics(samsa: Samsa) -> None:
    _send(samsa, *_many())
    dotted = [_create([f"dotted.name.{number}"], 1) for number in range(300)]
    assert len(_send(samsa, *dotted)) == len(dotted)


@cache
def _everything() -> bytes:
    return _frame(ApiKey.METADATA, 9, metadata.REQUEST(topics=None))


def descriptions_of_a_hundred_thousand_partitions(samsa: Samsa) -> None:
    _send(samsa, *(_create([f"wide{number}"], 10_000) for number in range(9)))
    assert len(_send(samsa, *[_everything()] * 3)) == 3


@cache
def _auto_created() -> bytes:
    topics = [metadata.TOPIC(name=f"made-up-{number}") for number in range(20_000)]
    row = metadata.REQUEST(topics=topics, allow_auto_topic_creation=True)
    return _frame(ApiKey.METADATA, 9, row)


def topics_without_end(samsa: Samsa) -> None:
    """With `--max-topics 1000`: else it takes its time."""
    (answer,) = _send(samsa, _auto_created())
    assert ErrorCode.POLICY_VIOLATION.to_bytes(2, "big") in answer


# Groups


def _beat(number: int, pattern: str) -> bytes:
    row = consumer_group_heartbeat.REQUEST(
        group_id=f"patterns-{number}",
        member_id=f"member-{number}",
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=[],
        subscribed_topic_regex=pattern,
        topic_partitions=[],
    )
    return _frame(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, row)


def patterns_over_thousands_of_topics(samsa: Samsa) -> None:
    _send(samsa, *_many())
    for number, pattern in enumerate(PATTERNS):
        beat = _beat(number, pattern)
        assert len(_send(samsa, *[beat] * BEATS)) == BEATS


def _join(number: int) -> bytes:
    row = join_group.REQUEST(
        group_id=f"one-of-many-{number}",
        session_timeout_ms=6_000,
        rebalance_timeout_ms=6_000,
        protocol_type="consumer",
        protocols=[join_group.PROTOCOL(name="range", metadata=b"")],
    )
    return _frame(ApiKey.JOIN_GROUP, 3, row)


def groups_without_end(samsa: Samsa) -> None:
    """With `--max-groups 500`: else it takes its time."""
    joins = [_join(number) for number in range(2_000)]
    assert len(_send(samsa, *joins)) == len(joins)
