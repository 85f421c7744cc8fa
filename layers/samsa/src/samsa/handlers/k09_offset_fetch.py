"""OffsetFetch (key 9).

Behaviour: a partition for which the group has committed nothing has offset -1, whether or not the
group or the topic exists. Null topics means all offsets that the group has committed. With
`require_stable`, a partition for which a transaction has offsets that are not decided yet gets
UNSTABLE_OFFSET_COMMIT: clients try again. Needs DESCRIBE on the group and on each topic; where all
offsets are asked for, those of other topics are left out.

Versions: 0-7 ask for one group, 8+ for several. 9+ name a member, whose epoch must be current in a
group of the consumer protocol. 10 names topics by id.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.broker.work import FEW
from samsa.coordinator.group_errors import UNAVAILABLE, code_of
from samsa.coordinator.offsets import kept_offsets, unstable_offsets
from samsa.groups import may_fetch
from samsa.ports import Committed, Offsets, Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.configs import Refused
from samsa.topics.permitted import is_visible, may_group, may_topic, need
from samsa.topics.resolve import topic_of
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import offset_fetch as wire

if TYPE_CHECKING:
    from typing import TypeVar

    from samsa.security.access import Access

    R = TypeVar("R")

FIRST_WITH_GROUP_ERROR = 2
FIRST_WITH_GROUPS = 8
FIRST_WITH_IDS = 10
NOTHING = Committed(-1, -1, "", 0, 0)
UNSTABLE = Committed(-1, -1, "", 0, 0)
"""In place of an offset that may change with a transaction. It is compared by identity."""


@handles(ApiKey.OFFSET_FETCH)
async def offset_fetch(
    request: wire.OffsetFetchRequest, context: Context, broker: Broker
) -> wire.OffsetFetchResponse:
    if context.version >= FIRST_WITH_GROUPS:
        stable, groups = request.require_stable, broker.work.pace(request.groups)
        found = [await _group(group, stable, context, broker) async for group in groups]
        return wire.RESPONSE(groups=found)
    access = context.access
    offsets: Offsets = {}
    code = ErrorCode.GROUP_AUTHORIZATION_FAILED
    if may_group(access, Operation.DESCRIBE, request.group_id):
        offsets, code = await _offsets(request.group_id, request.require_stable, broker)
    if code and context.version >= FIRST_WITH_GROUP_ERROR:
        return wire.RESPONSE(error_code=code)
    asked = _wanted(request.topics, offsets, access, broker)
    return wire.RESPONSE(
        topics=[
            wire.TOPIC_RESPONSE(
                name=name,
                partitions=await _rows(
                    broker,
                    name,
                    numbers,
                    offsets,
                    wire.PARTITION_RESPONSE,
                    code or _why_hidden(name, access),
                ),
            )
            async for name, numbers in asked
        ]
    )


def _why_hidden(name: str, access: Access) -> ErrorCode:
    if may_topic(access, Operation.DESCRIBE, name):
        return ErrorCode.NONE
    return ErrorCode.TOPIC_AUTHORIZATION_FAILED


async def _offsets(
    group_id: str, require_stable: bool, broker: Broker
) -> tuple[Offsets, ErrorCode]:
    try:
        # First those that may change: what a transaction committed meanwhile is then seen.
        unstable = await unstable_offsets(broker, group_id) if require_stable else ()
        offsets = await kept_offsets(broker, group_id)
        return {**offsets, **dict.fromkeys(unstable, UNSTABLE)}, ErrorCode.NONE
    except Unavailable:
        return {}, UNAVAILABLE


async def _wanted(
    topics: list[wire.OffsetFetchRequestTopic] | list[wire.OffsetFetchRequestTopics] | None,
    offsets: Offsets,
    access: Access,
    broker: Broker,
) -> AsyncIterator[tuple[str, list[int]]]:
    """Topic names and partitions; if topics is null, all that have offsets and may be seen."""
    if topics is not None:
        asked = [(topic.name, topic.partition_indexes) for topic in topics]
        async for one in broker.work.pace(asked):
            yield one
        return
    found: dict[str, list[int]] = {}
    for name, number in offsets:
        found.setdefault(name, []).append(number)
    async for name, numbers in broker.work.pace(found.items()):
        if is_visible(access, Operation.DESCRIBE, ResourceType.TOPIC, name):
            yield name, numbers


async def _rows(
    broker: Broker,
    name: str,
    numbers: list[int],
    offsets: Offsets,
    row: Callable[..., R],
    code: ErrorCode = ErrorCode.NONE,
) -> list[R]:
    if len(numbers) > FEW:
        return [
            _row(number, offsets.get((name, number), NOTHING), code, row)
            async for number in broker.work.pace(numbers)
        ]
    return [_row(number, offsets.get((name, number), NOTHING), code, row) for number in numbers]


def _row(number: int, found: Committed, code: ErrorCode, row: Callable[..., R]) -> R:
    if code:
        found = NOTHING
    elif found is UNSTABLE:
        code = ErrorCode.UNSTABLE_OFFSET_COMMIT
    return row(
        partition_index=number,
        committed_offset=found.offset,
        committed_leader_epoch=found.leader_epoch,
        metadata=found.metadata,
        error_code=code,
    )


async def _group(
    asked: wire.OffsetFetchRequestGroup, require_stable: bool, context: Context, broker: Broker
) -> wire.OffsetFetchResponseGroup:
    access, code = context.access, ErrorCode.GROUP_AUTHORIZATION_FAILED
    if may_group(access, Operation.DESCRIBE, asked.group_id):
        code = await _why_not(asked, broker)
    if code:
        return wire.GROUP_RESPONSE(group_id=asked.group_id, error_code=code)
    offsets, code = await _offsets(asked.group_id, require_stable, broker)
    if code:
        return wire.GROUP_RESPONSE(group_id=asked.group_id, error_code=code)
    by_id = context.version >= FIRST_WITH_IDS
    topics = (
        await _topics_by_id(asked.topics, offsets, access, broker)
        if by_id
        else [
            await _topic(broker, name, numbers, offsets, _why_hidden(name, access))
            async for name, numbers in _wanted(asked.topics, offsets, access, broker)
        ]
    )
    return wire.GROUP_RESPONSE(group_id=asked.group_id, topics=topics)


async def _why_not(asked: wire.OffsetFetchRequestGroup, broker: Broker) -> ErrorCode:
    if asked.member_id is None and asked.member_epoch < 0:
        return ErrorCode.NONE
    try:
        group, _ = await broker.coordinator.look(asked.group_id)
    except Unavailable:
        return UNAVAILABLE
    now = broker.stores.clock.now_ms()
    return code_of(may_fetch(group, asked.member_id, asked.member_epoch, now))


async def _topic(
    broker: Broker,
    name: str,
    numbers: list[int],
    offsets: Offsets,
    code: ErrorCode = ErrorCode.NONE,
) -> wire.OffsetFetchResponseTopics:
    partitions = await _rows(broker, name, numbers, offsets, wire.GROUP_PARTITION_RESPONSE, code)
    return wire.GROUP_TOPIC_RESPONSE(name=name, partitions=partitions)


async def _topics_by_id(
    asked: list[wire.OffsetFetchRequestTopics] | None,
    offsets: Offsets,
    access: Access,
    broker: Broker,
) -> list[wire.OffsetFetchResponseTopics]:
    if asked is not None:
        topics = broker.work.pace(asked)
        return [await _topic_by_id(topic, offsets, access, broker) async for topic in topics]
    found = []
    async for name, numbers in _wanted(None, offsets, access, broker):
        topic = await broker.catalog.named(name)
        if topic is not None:
            row = await _topic(broker, name, numbers, offsets)
            row.topic_id = topic.id
            found.append(row)
    return found


async def _topic_by_id(
    asked: wire.OffsetFetchRequestTopics, offsets: Offsets, access: Access, broker: Broker
) -> wire.OffsetFetchResponseTopics:
    try:
        topic = await topic_of(asked.topic_id, broker, need(access, Operation.DESCRIBE))
    except Refused as refused:
        return await _refused(asked, refused.code, broker)
    except Unavailable:
        return await _refused(asked, UNAVAILABLE, broker)
    row = await _topic(broker, topic.name, asked.partition_indexes, offsets)
    row.topic_id = topic.id
    return row


async def _refused(
    asked: wire.OffsetFetchRequestTopics, code: ErrorCode, broker: Broker
) -> wire.OffsetFetchResponseTopics:
    partitions = await _rows(
        broker, "", asked.partition_indexes, {}, wire.GROUP_PARTITION_RESPONSE, code
    )
    return wire.GROUP_TOPIC_RESPONSE(topic_id=asked.topic_id, partitions=partitions)
