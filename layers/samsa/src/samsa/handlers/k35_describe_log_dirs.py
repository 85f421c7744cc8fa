"""DescribeLogDirs (key 35).

Behaviour: all that is stored counts as one directory. A partition's size is the bytes of its
batches, as far as the log still holds a part of them. Null means all topics. Partitions that do not
exist are left out, as in Kafka, and so are those that another node is named as leader of: tools add
up what all nodes say. How much room there is, nobody knows: −1.
"""

from collections.abc import Iterable
from typing import Any

from samsa.ports import Missing, Partition, Topic, Unavailable, UnknownPartition
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_log_dirs import (
    PARTITION_RESPONSE,
    RESPONSE,
    RESULT,
    TOPIC_RESPONSE,
)

from .broker import Broker, Context, handles
from .broker_configs import LOG_DIR


@handles(ApiKey.DESCRIBE_LOG_DIRS)
async def describe_log_dirs(request: Any, context: Context, broker: Broker) -> Any:
    try:
        asked = broker.work.pace(await _asked_for(request, broker))
        topics = [await _sizes(*each, context, broker) async for each in asked]
    except (Unavailable, Missing):
        return RESPONSE(results=[RESULT(log_dir=LOG_DIR, error_code=ErrorCode.KAFKA_STORAGE_ERROR)])
    return RESPONSE(results=[RESULT(log_dir=LOG_DIR, topics=[t for t in topics if t.partitions])])


async def _asked_for(request: Any, broker: Broker) -> Iterable[tuple[Topic, Iterable[int]]]:
    if request.topics is None:
        return [(topic, range(topic.partitions)) for topic in await broker.catalog.all()]
    rows = broker.work.pace(request.topics)
    found = [(await broker.catalog.named(row.topic), row.partitions) async for row in rows]
    return [(topic, numbers) for topic, numbers in found if topic is not None]


async def _sizes(topic: Topic, numbers: Iterable[int], context: Context, broker: Broker) -> Any:
    partitions = []
    async for number in broker.work.pace(numbers):
        if not (context.asks_all or broker.nodes.leads(topic.id, number)):
            continue
        try:
            size = await broker.log.retainer.size(Partition(topic.id, number))
        except UnknownPartition:
            continue
        partitions.append(PARTITION_RESPONSE(partition_index=number, partition_size=size))
    return TOPIC_RESPONSE(name=topic.name, partitions=partitions)
