"""DescribeLogDirs (key 35).

Behaviour: all stored data counts as one directory. A partition's size is the bytes of its extents;
an extent counts whole as long as the log holds a part of it. Null means all topics. Partitions that
do not exist are left out, as in Kafka. So are partitions with another leader, because tools add up
the answers of all nodes. Total and free space are not known: −1. Needs DESCRIBE on the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable

from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Missing, Partition, Topic, Unavailable, UnknownPartition
from samsa.security.kinds import Operation
from samsa.topics.broker_configs import LOG_DIR
from samsa.topics.permitted import may_cluster
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_log_dirs as wire


@handles(ApiKey.DESCRIBE_LOG_DIRS)
async def describe_log_dirs(
    request: wire.DescribeLogDirsRequest, context: Context, broker: Broker
) -> wire.DescribeLogDirsResponse:
    if not may_cluster(context.access, Operation.DESCRIBE):
        return wire.RESPONSE(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    try:
        asked = broker.work.pace(await _asked_for(request, broker))
        topics = [await _sizes(*each, context, broker) async for each in asked]
    except (Unavailable, Missing):
        return wire.RESPONSE(
            results=[wire.RESULT(log_dir=LOG_DIR, error_code=ErrorCode.KAFKA_STORAGE_ERROR)]
        )
    return wire.RESPONSE(
        results=[wire.RESULT(log_dir=LOG_DIR, topics=[t for t in topics if t.partitions])]
    )


async def _asked_for(
    request: wire.DescribeLogDirsRequest, broker: Broker
) -> Iterable[tuple[Topic, Iterable[int]]]:
    if request.topics is None:
        return [(topic, range(topic.partitions)) for topic in await broker.catalog.all()]
    rows = broker.work.pace(request.topics)
    found = [(await broker.catalog.named(row.topic), row.partitions) async for row in rows]
    return [(topic, numbers) for topic, numbers in found if topic is not None]


async def _sizes(
    topic: Topic, numbers: Iterable[int], context: Context, broker: Broker
) -> wire.DescribeLogDirsTopic:
    partitions = []
    async for number in broker.work.pace(numbers):
        if not (context.asks_all or broker.nodes.leads(topic.id, number)):
            continue
        try:
            size = await broker.log.retainer.size(Partition(topic.id, number))
        except UnknownPartition:
            continue
        partitions.append(wire.PARTITION_RESPONSE(partition_index=number, partition_size=size))
    return wire.TOPIC_RESPONSE(name=topic.name, partitions=partitions)
