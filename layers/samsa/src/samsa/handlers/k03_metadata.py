"""Metadata (key 3).

Behaviour: lists the processes of the cluster as nodes, this one at the address that the client
used. Leaders are spread over them (`nodes.py`). Without announced nodes, this process is node 0 and
leads everything.
Topics that do not exist are created if both the broker and the client allow it.

Needs DESCRIBE on each topic; a list of all topics leaves out the others. To create one needs CREATE
on the cluster or on the topic.

Versions: 0 has no replicas and no ISR, and an empty list of names means all topics. 1+ list the
leader as the only replica, so that tools print a replication factor of 1 (and one more replica in
each other zone, if there are zones); null means all topics. 4+ say whether to create topics. 10+
have topic ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from uuid import UUID

from samsa.broker.broker import LEADER_EPOCH, Broker, Context, handles
from samsa.broker.nodes import Choice, Nodes
from samsa.broker.operations import NOT_ASKED
from samsa.ports import Topic, Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.configs import Refused
from samsa.topics.internal import INTERNAL
from samsa.topics.permitted import (
    on_cluster,
    on_topic,
    raise_unless_may,
    visible,
)
from samsa.topics.resolve import topic_or_new
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import metadata as wire

NO_ID = UUID(int=0)
MANY = 64
"""More names than this are looked up with one listing of all topics, not one by one."""
HIDDEN = (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_TOPIC_ID)
"""Answers with these errors do not say what is allowed on the topic."""
ROWS_KEPT = 50_000
_ROWS: dict[tuple[Choice, bool], list[wire.MetadataResponsePartition]] = {}
"""Cached rows of partitions by number, without and with replicas, if there is one node: these rows
are the same for all topics."""


@handles(ApiKey.METADATA)
async def metadata(
    request: wire.MetadataRequest, context: Context, broker: Broker
) -> wire.MetadataResponse:
    nodes = broker.nodes  # the same nodes for the whole answer, even if they change meanwhile
    topics = await _topics(request, context, broker, nodes)
    if request.include_topic_authorized_operations:
        async for topic in broker.work.pace(topics):
            if topic.error_code not in HIDDEN:
                topic.topic_authorized_operations = on_topic(context.access, topic.name or "")
    return wire.RESPONSE(
        brokers=[
            wire.BROKER(node_id=node.id, host=node.host, port=node.port, rack=node.rack)
            for node in nodes.named(context.address)
        ],
        cluster_id=broker.cluster_id,
        controller_id=nodes.controller,
        topics=topics,
        cluster_authorized_operations=on_cluster(context.access)
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )


async def _topics(
    request: wire.MetadataRequest, context: Context, broker: Broker, nodes: Nodes
) -> list[wire.MetadataResponseTopic]:
    if request.topics is None or (context.version == 0 and not request.topics):
        topics = await visible(await broker.catalog.all(), context.access, broker.work)
        return [_described(topic, context, nodes) async for topic in broker.work.pace(topics)]
    # Each topic is answered once, as in Kafka.
    asked = {(topic.name, topic.topic_id): topic for topic in request.topics}
    listed = await _listed(broker) if len(asked) > MANY else None
    return [
        await _asked_for(topic, listed, request, context, broker, nodes)
        async for topic in broker.work.pace(asked.values())
    ]


async def _listed(broker: Broker) -> Mapping[str, Topic] | None:
    try:
        return {topic.name: topic for topic in await broker.catalog.all()}
    except Unavailable:
        return None  # then each topic is looked up on its own, and may be cached


async def _asked_for(
    asked: wire.MetadataRequestTopic,
    listed: Mapping[str, Topic] | None,
    request: wire.MetadataRequest,
    context: Context,
    broker: Broker,
    nodes: Nodes,
) -> wire.MetadataResponseTopic:
    try:
        found = await _find(asked, listed, request, context, broker)
        return _described(found, context, nodes)
    except Refused as refused:
        code = refused.code
    except Unavailable:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    return wire.TOPIC_RESPONSE(
        error_code=code,
        name=asked.name if asked.name is not None or context.version >= 12 else "",
        topic_id=asked.topic_id,
        is_internal=asked.name in INTERNAL and code is not ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        partitions=[],
    )


async def _find(
    asked: wire.MetadataRequestTopic,
    listed: Mapping[str, Topic] | None,
    request: wire.MetadataRequest,
    context: Context,
    broker: Broker,
) -> Topic:
    access = context.access
    if asked.name is not None:
        return await topic_or_new(
            asked.name, request.allow_auto_topic_creation, access, broker, listed
        )
    topic = await broker.catalog.with_id(asked.topic_id) if asked.topic_id != NO_ID else None
    if topic is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with id {asked.topic_id}")
    raise_unless_may(access, Operation.DESCRIBE, ResourceType.TOPIC, topic.name)
    return topic


def _described(topic: Topic, context: Context, nodes: Nodes) -> wire.MetadataResponseTopic:
    return wire.TOPIC_RESPONSE(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL,
        partitions=_partitions(topic, context.version > 0, nodes),
    )


def _partitions(
    topic: Topic, with_replicas: bool, nodes: Nodes
) -> list[wire.MetadataResponsePartition]:
    if nodes.only is not None:
        return _alike(nodes.only, topic.partitions, with_replicas)
    choices = nodes.choices(topic.id, range(topic.partitions))
    return [_kept_row(number, choice, with_replicas) for number, choice in enumerate(choices)]


def _alike(choice: Choice, count: int, with_replicas: bool) -> list[wire.MetadataResponsePartition]:
    rows = _ROWS.setdefault((choice, with_replicas), [])
    for number in range(len(rows), count):
        rows.append(_row(number, choice, with_replicas))
    return rows[:count]


def _row(number: int, choice: Choice, with_replicas: bool) -> wire.MetadataResponsePartition:
    replicas = list(choice.replicas) if with_replicas else []
    return wire.PARTITION_RESPONSE(
        partition_index=number,
        leader_id=choice.leader,
        leader_epoch=LEADER_EPOCH,
        replica_nodes=replicas,
        isr_nodes=replicas,
    )


_kept_row = lru_cache(maxsize=ROWS_KEPT)(_row)
