"""Metadata (key 3).

Behaviour: one logical broker, node 0, leader of every partition, at the address that the client
itself used. Topics that do not exist are created if both the broker and the client allow it.

Versions: 0 keeps the seed's shape: no replicas, no ISR, an empty list of names means all topics.
1+ list node 0 as the only replica, so that tools print a replication factor of 1, and null means
all topics. 4+ say whether to create. 10+ know topic ids.
"""

from typing import Any
from uuid import UUID

from samsa.ports import Topic, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.metadata import BROKER, PARTITION_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .broker import LEADER_EPOCH, NODE_ID, Broker, Context, handles
from .configs import Refused
from .internal import INTERNAL
from .operations import NOT_ASKED, ON_THE_CLUSTER, ON_TOPICS

NO_ID = UUID(int=0)


@handles(ApiKey.METADATA)
async def metadata(request: Any, context: Context, broker: Broker) -> Any:
    host, port = context.address
    topics = await _topics(request, context, broker)
    if request.include_topic_authorized_operations:
        for topic in topics:
            topic.topic_authorized_operations = ON_TOPICS
    return RESPONSE(
        brokers=[BROKER(node_id=NODE_ID, host=host, port=port)],
        cluster_id=broker.cluster_id,
        controller_id=NODE_ID,
        topics=topics,
        cluster_authorized_operations=ON_THE_CLUSTER
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )


async def _topics(request: Any, context: Context, broker: Broker) -> list[Any]:
    if request.topics is None or (context.version == 0 and not request.topics):
        return [_described(topic, context) for topic in await broker.catalog.all()]
    return [await _asked_for(asked, request, context, broker) for asked in request.topics]


async def _asked_for(asked: Any, request: Any, context: Context, broker: Broker) -> Any:
    try:
        return _described(await _find(asked, request, broker), context)
    except Refused as refused:
        code = refused.code
    except Unavailable:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    return TOPIC_RESPONSE(
        error_code=code,
        name=asked.name if asked.name is not None or context.version >= 12 else "",
        topic_id=asked.topic_id,
        is_internal=asked.name in INTERNAL,
        partitions=[],
    )


async def _find(asked: Any, request: Any, broker: Broker) -> Topic:
    if asked.name is not None:
        return await broker.catalog.named_or_created(asked.name, request.allow_auto_topic_creation)
    topic = await broker.catalog.with_id(asked.topic_id) if asked.topic_id != NO_ID else None
    if topic is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with id {asked.topic_id}")
    return topic


def _described(topic: Topic, context: Context) -> Any:
    replicas = [] if context.version == 0 else [NODE_ID]
    partitions = [
        PARTITION_RESPONSE(
            partition_index=number,
            leader_id=NODE_ID,
            leader_epoch=LEADER_EPOCH,
            replica_nodes=replicas,
            isr_nodes=replicas,
        )
        for number in range(topic.partitions)
    ]
    return TOPIC_RESPONSE(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL,
        partitions=partitions,
    )
