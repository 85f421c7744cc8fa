"""ConsumerGroupHeartbeat (key 68): the consumer protocol (KIP-848).

Behaviour: a member reports its subscription and the partitions it owns. The answers move it towards
its target assignment. No request is ever parked. At most one read and one write; topics are looked
up once a second. Needs READ on the group, and DESCRIBE on each topic that is subscribed by name. A
regular expression matches only topics that the client may DESCRIBE.

Versions: in 0 the member id is made here. In 1 the client makes it, and may subscribe by regular
expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.assigned import by_topic
from samsa.coordinator.group_errors import UNAVAILABLE, code_of, is_group_id
from samsa.groups import ConsumerHeartbeat, ConsumerHeartbeatAnswer
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_group, may_topic, sees_topics
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import consumer_group_heartbeat as wire

if TYPE_CHECKING:
    from samsa.security.access import Access

FIRST_WITH_OWN_ID = 1
JOINING = 0


@handles(ApiKey.CONSUMER_GROUP_HEARTBEAT)
async def consumer_group_heartbeat(
    request: wire.ConsumerGroupHeartbeatRequest, context: Context, broker: Broker
) -> wire.ConsumerGroupHeartbeatResponse:
    refused = await _refusal(request, context.access, broker)
    if refused is not None:
        return refused
    try:
        if request.member_epoch == JOINING and not broker.group_totals.knows(request.group_id):
            code = await broker.group_totals.why_not(request.group_id)
            if code:
                return wire.RESPONSE(error_code=code, error_message="There are too many groups.")
        beat = _beat(request, context, broker)
        answer = await broker.coordinator.ask(request.group_id, beat)
    except Unavailable as error:
        return wire.RESPONSE(error_code=UNAVAILABLE, error_message=str(error))
    assert isinstance(answer, ConsumerHeartbeatAnswer)
    if answer.error:
        return wire.RESPONSE(error_code=code_of(answer.error), error_message=answer.error.value)
    return await _response(answer, broker)


async def _refusal(
    request: wire.ConsumerGroupHeartbeatRequest, access: Access, broker: Broker
) -> wire.ConsumerGroupHeartbeatResponse | None:
    code = await _why_forbidden(request, access, broker)
    if code:
        return wire.RESPONSE(error_code=code)
    if not request.group_id:
        return wire.RESPONSE(
            error_code=ErrorCode.INVALID_REQUEST, error_message="GroupId can't be empty."
        )
    if not is_group_id(request.group_id):
        return wire.RESPONSE(
            error_code=ErrorCode.INVALID_GROUP_ID, error_message="GroupId is too long."
        )
    return None


async def _why_forbidden(
    request: wire.ConsumerGroupHeartbeatRequest, access: Access, broker: Broker
) -> ErrorCode:
    if not access.is_limited:
        return ErrorCode.NONE
    if not may_group(access, Operation.READ, request.group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    async for name in broker.work.pace(dict.fromkeys(request.subscribed_topic_names or ())):
        if not may_topic(access, Operation.DESCRIBE, name):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return ErrorCode.NONE


def _beat(
    request: wire.ConsumerGroupHeartbeatRequest, context: Context, broker: Broker
) -> ConsumerHeartbeat:
    own_id = context.version >= FIRST_WITH_OWN_ID
    names, owned = request.subscribed_topic_names, request.topic_partitions
    return ConsumerHeartbeat(
        member_id=request.member_id,
        epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topics=None if names is None else tuple(names),
        pattern=request.subscribed_topic_regex,
        assignor=request.server_assignor,
        owned=None if owned is None else _partitions(owned),
        client_id=context.client_id or "",
        client_host=context.client_host,
        ticket="" if own_id else broker.coordinator.ticket(request.group_id),
        sees=sees_topics(context.access),
    )


def _partitions(rows: list[wire.TopicPartitions]) -> frozenset[tuple[UUID, int]]:
    return frozenset((row.topic_id, number) for row in rows for number in row.partitions)


async def _response(
    answer: ConsumerHeartbeatAnswer, broker: Broker
) -> wire.ConsumerGroupHeartbeatResponse:
    assignment = None
    if answer.assignment is not None:
        assignment = wire.ASSIGNMENT(
            topic_partitions=[
                wire.TOPIC_PARTITIONS(topic_id=topic_id, partitions=numbers)
                for topic_id, numbers in await by_topic(answer.assignment, broker.work)
            ]
        )
    return wire.RESPONSE(
        member_id=answer.member_id,
        member_epoch=answer.epoch,
        heartbeat_interval_ms=answer.heartbeat_interval_ms,
        assignment=assignment,
    )
