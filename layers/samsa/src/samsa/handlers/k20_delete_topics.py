"""DeleteTopics (key 20).

Behaviour: the name is free again when the answer comes. Objects and items of the old topic, and the
offsets that groups have committed for it, are deleted in the background. A new topic of the same
name has another id, so it never sees them.

Needs DELETE on the cluster or on the topic. As in Kafka, a topic that is given by its name needs
DESCRIBE too; without that, the answer to an id does not tell the name.

Versions: 5+ are refused topics over the quota of mutations. 6 can name topics by id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.offsets import forget_offsets
from samsa.ports import Topic, Unavailable
from samsa.security.access import UNLIMITED
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.configs import Refused
from samsa.topics.mutations import Mutations
from samsa.topics.permitted import is_visible, may_quietly, may_topic, refusal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import delete_topics as wire

if TYPE_CHECKING:
    from samsa.security.access import Access

KNOWS_THROTTLING = 5
FIRST_WITH_IDS = 6
_REFUSED = refusal(ResourceType.TOPIC)
FORBIDDEN = _REFUSED.code, _REFUSED.message


@handles(ApiKey.DELETE_TOPICS)
async def delete_topics(
    request: wire.DeleteTopicsRequest, context: Context, broker: Broker
) -> wire.DeleteTopicsResponse:
    access = context.access if not may_quietly(context.access, Operation.DELETE) else UNLIMITED
    mutations = Mutations(context, KNOWS_THROTTLING)
    how = access, broker, mutations
    if context.version < FIRST_WITH_IDS:
        names = broker.work.pace(request.topic_names)
        responses = [await _delete(name, None, *how) async for name in names]
    else:
        topics = broker.work.pace(request.topics)
        responses = [await _delete(topic.name, topic.topic_id, *how) async for topic in topics]
    return wire.RESPONSE(responses=responses, throttle_time_ms=mutations.throttle_ms)


async def _delete(
    name: str | None,
    topic_id: UUID | None,
    access: Access,
    broker: Broker,
    mutations: Mutations,
) -> wire.DeletableTopicResult:
    if name is not None and not may_topic(access, Operation.DESCRIBE, name):
        return _answer(name, None, *FORBIDDEN)
    try:
        topic = await _find(name, topic_id, broker)
        if topic is not None and not may_topic(access, Operation.DELETE, topic.name):
            is_seen = is_visible(access, Operation.DESCRIBE, ResourceType.TOPIC, topic.name)
            return _answer(topic.name if is_seen else None, topic_id, *FORBIDDEN)
        if topic is not None:
            mutations.check()
        if topic is None or not await broker.catalog.delete(topic):
            code = (
                ErrorCode.UNKNOWN_TOPIC_ID if name is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            )
            return _answer(name, topic_id, code)
    except Refused as refused:
        return _answer(name, topic_id, refused.code, refused.message)
    except Unavailable as error:
        return _answer(name, topic_id, ErrorCode.REQUEST_TIMED_OUT, str(error))
    mutations.count(topic.partitions)
    broker.log.background.start(broker.log.retainer.bury(topic))
    broker.log.background.start(forget_offsets(broker, topic))
    return _answer(topic.name, topic.id, ErrorCode.NONE)


async def _find(name: str | None, topic_id: UUID | None, broker: Broker) -> Topic | None:
    """Read from the ledger: a cached topic may already be deleted."""
    if name is not None:
        return await broker.stores.ledger.topic(name)
    return await broker.stores.ledger.topic_by_id(topic_id) if topic_id else None


def _answer(
    name: str | None, topic_id: UUID | None, code: ErrorCode, message: str | None = None
) -> wire.DeletableTopicResult:
    row = wire.TOPIC_RESPONSE(name=name, error_code=code, error_message=message)
    if topic_id is not None:
        row.topic_id = topic_id
    return row
