"""OffsetFetch (key 9).

Behaviour: a partition for which the group has committed nothing has offset -1, whether or not the
group or the topic exists. Null for the topics means all that the group has committed. There are no
open transactions, so every offset is stable.

Versions: 0-7 ask for one group, 8+ for several. 9+ name a member, whose epoch must be current in a
group of the consumer protocol. 10 names topics by id.
"""

from typing import Any

from samsa.groups import may_fetch
from samsa.ports import Committed, Offsets, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.offset_fetch import (
    GROUP_PARTITION_RESPONSE,
    GROUP_RESPONSE,
    GROUP_TOPIC_RESPONSE,
    PARTITION_RESPONSE,
    RESPONSE,
    TOPIC_RESPONSE,
)
from samsa.wire.schema import Struct

from .broker import Broker, Context, handles
from .configs import Refused
from .group_errors import UNAVAILABLE, code_of
from .offsets import kept_offsets
from .resolve import topic_of

FIRST_WITH_GROUP_ERROR = 2
FIRST_WITH_GROUPS = 8
FIRST_WITH_IDS = 10
NOTHING = Committed(-1, -1, "", 0, 0)


@handles(ApiKey.OFFSET_FETCH)
async def offset_fetch(request: Any, context: Context, broker: Broker) -> Any:
    if context.version >= FIRST_WITH_GROUPS:
        return RESPONSE(groups=[await _group(group, context, broker) for group in request.groups])
    offsets, code = await _offsets(request.group_id, broker)
    if code and context.version >= FIRST_WITH_GROUP_ERROR:
        return RESPONSE(error_code=code)
    asked = _wanted(request.topics, offsets)
    return RESPONSE(
        topics=[
            TOPIC_RESPONSE(name=name, partitions=_rows(name, numbers, offsets, code))
            for name, numbers in asked
        ]
    )


async def _offsets(group_id: str, broker: Broker) -> tuple[Offsets, ErrorCode]:
    try:
        return await kept_offsets(broker, group_id), ErrorCode.NONE
    except Unavailable:
        return {}, UNAVAILABLE


def _wanted(topics: list[Any] | None, offsets: Offsets) -> list[tuple[str, list[int]]]:
    """Names and partitions; all that there are offsets for, if none are named."""
    if topics is not None:
        return [(topic.name, topic.partition_indexes) for topic in topics]
    found: dict[str, list[int]] = {}
    for name, number in offsets:
        found.setdefault(name, []).append(number)
    return list(found.items())


def _rows(
    name: str,
    numbers: list[int],
    offsets: Offsets,
    code: ErrorCode = ErrorCode.NONE,
    row: Struct = PARTITION_RESPONSE,
) -> list[Any]:
    return [_row(number, offsets.get((name, number), NOTHING), code, row) for number in numbers]


def _row(number: int, found: Committed, code: ErrorCode, row: Struct) -> Any:
    return row(
        partition_index=number,
        committed_offset=found.offset,
        committed_leader_epoch=found.leader_epoch,
        metadata=found.metadata,
        error_code=code,
    )


async def _group(asked: Any, context: Context, broker: Broker) -> Any:
    code = await _why_not(asked, broker)
    if code:
        return GROUP_RESPONSE(group_id=asked.group_id, error_code=code)
    offsets, code = await _offsets(asked.group_id, broker)
    if code:
        return GROUP_RESPONSE(group_id=asked.group_id, error_code=code)
    by_id = context.version >= FIRST_WITH_IDS
    topics = (
        await _topics_by_id(asked.topics, offsets, broker)
        if by_id
        else [_topic(name, numbers, offsets) for name, numbers in _wanted(asked.topics, offsets)]
    )
    return GROUP_RESPONSE(group_id=asked.group_id, topics=topics)


async def _why_not(asked: Any, broker: Broker) -> ErrorCode:
    if asked.member_id is None and asked.member_epoch < 0:
        return ErrorCode.NONE
    try:
        group, _ = await broker.coordinator.look(asked.group_id)
    except Unavailable:
        return UNAVAILABLE
    now = broker.stores.clock.now_ms()
    return code_of(may_fetch(group, asked.member_id, asked.member_epoch, now))


def _topic(name: str, numbers: list[int], offsets: Offsets) -> Any:
    partitions = _rows(name, numbers, offsets, row=GROUP_PARTITION_RESPONSE)
    return GROUP_TOPIC_RESPONSE(name=name, partitions=partitions)


async def _topics_by_id(asked: list[Any] | None, offsets: Offsets, broker: Broker) -> list[Any]:
    if asked is not None:
        return [await _topic_by_id(topic, offsets, broker) for topic in asked]
    found = []
    for name, numbers in _wanted(None, offsets):
        topic = await broker.catalog.named(name)
        if topic is not None:
            row = _topic(name, numbers, offsets)
            row.topic_id = topic.id
            found.append(row)
    return found


async def _topic_by_id(asked: Any, offsets: Offsets, broker: Broker) -> Any:
    try:
        topic = await topic_of(asked, True, broker)
    except Refused:
        return _refused(asked, ErrorCode.UNKNOWN_TOPIC_ID)
    except Unavailable:
        return _refused(asked, UNAVAILABLE)
    row = _topic(topic.name, asked.partition_indexes, offsets)
    row.topic_id = topic.id
    return row


def _refused(asked: Any, code: ErrorCode) -> Any:
    partitions = _rows("", asked.partition_indexes, {}, code, GROUP_PARTITION_RESPONSE)
    return GROUP_TOPIC_RESPONSE(topic_id=asked.topic_id, partitions=partitions)
