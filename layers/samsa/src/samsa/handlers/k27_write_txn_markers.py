"""WriteTxnMarkers (key 27).

Behaviour: Kafka's transaction coordinators use it among brokers, and `kafka-transactions.sh abort`
to abort a transaction that hangs in a partition. Here the coordinator writes markers by itself, so
only ABORT is served. If the coordinator knows of an ongoing transaction of the producer, it aborts
all of it: a transaction is never torn. Otherwise what the producer has open in the partition is
aborted there, unless the producer has begun another transaction there meanwhile: then the
coordinator is asked again. A partition in which it has nothing open is left as it is. Needs ALTER
or CLUSTER_ACTION on the cluster.

Versions: all the same; the coordinator's epoch and the transaction's version are not used.
"""

from __future__ import annotations

from functools import partial

from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Partition, Topic, Unavailable, UnknownPartition
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.configs import Refused
from samsa.topics.permitted import may_cluster, may_quietly, refusal
from samsa.topics.resolve import partition_in, topic_or_refusal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import write_txn_markers as wire

ANY_EPOCH = -1


@handles(ApiKey.WRITE_TXN_MARKERS)
async def write_txn_markers(
    request: wire.WriteTxnMarkersRequest, context: Context, broker: Broker
) -> wire.WriteTxnMarkersResponse:
    access, refused = context.access, None
    may_alter = may_quietly(access, Operation.ALTER)
    if not may_alter and not may_cluster(access, Operation.CLUSTER_ACTION):
        refused = refusal(ResourceType.CLUSTER)
    each = partial(_marker, broker, refused)
    return wire.RESPONSE(markers=await broker.work.each(request.markers, each))


async def _marker(
    broker: Broker, refused: Refused | None, asked: wire.WritableTxnMarker
) -> wire.WritableTxnMarkerResult:
    async def answer(topic: wire.WritableTxnMarkerTopic) -> wire.WritableTxnMarkerTopicResult:
        found: Topic | Refused | None = refused
        if found is None:
            found = await topic_or_refusal(topic.name, broker, ErrorCode.COORDINATOR_NOT_AVAILABLE)

        async def mark(number: int) -> wire.WritableTxnMarkerPartitionResult:
            try:
                partition = partition_in(found, number, ANY_EPOCH)
                code = await _abort(partition, asked, broker)
            except Refused as refused:
                code = refused.code
            except UnknownPartition:
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            except Unavailable:
                code = ErrorCode.COORDINATOR_NOT_AVAILABLE
            return wire.PARTITION_RESULT(partition_index=number, error_code=code)

        results = await broker.work.each(topic.partition_indexes, mark)
        return wire.TOPIC_RESULT(name=topic.name, partitions=results)

    topics = await broker.work.each(asked.topics, answer)
    return wire.MARKER_RESULT(producer_id=asked.producer_id, topics=topics)


async def _abort(partition: Partition, asked: wire.WritableTxnMarker, broker: Broker) -> ErrorCode:
    if asked.transaction_result:
        return ErrorCode.INVALID_REQUEST
    by_coordinator = partial(broker.transactions.abort_of, asked.producer_id)
    await by_coordinator()
    done = await broker.log.appender.abort(
        partition, asked.producer_id, asked.producer_epoch, by_coordinator
    )
    return ErrorCode.NONE if done else ErrorCode.INVALID_PRODUCER_EPOCH
