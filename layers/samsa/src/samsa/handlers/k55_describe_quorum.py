"""DescribeQuorum (key 55).

Behaviour: the ledger holds what Kafka keeps in its metadata log, and replicates it by itself. So
the quorum has one voter, the node that is named as the controller; its log is empty and never lags.
As in Kafka, a request may only name partition 0 of that log, and nothing else. Needs DESCRIBE
on the cluster.

Versions: 1+ say when a voter was last heard. 2 has its address.
"""

from __future__ import annotations

from samsa.broker.broker import LEADER_EPOCH, Broker, Context, handles
from samsa.security.kinds import Operation
from samsa.topics.permitted import CLUSTER_REFUSED, may_cluster
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_quorum as wire

METADATA_LOG = ("__cluster_metadata", 0)


@handles(ApiKey.DESCRIBE_QUORUM)
async def describe_quorum(
    request: wire.DescribeQuorumRequest, context: Context, broker: Broker
) -> wire.DescribeQuorumResponse:
    if not may_cluster(context.access, Operation.DESCRIBE):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return wire.RESPONSE(error_code=code, error_message=CLUSTER_REFUSED)
    if not _is_for_the_metadata_log(request):
        topics = broker.work.pace(request.topics)
        return wire.RESPONSE(topics=[await _unknown(topic, broker) async for topic in topics])
    name, number = METADATA_LOG
    now = broker.stores.clock.now_ms()
    node = broker.nodes.find(broker.nodes.controller, context.address)
    voter = wire.REPLICA(replica_id=node.id, last_fetch_timestamp=now, last_caught_up_timestamp=now)
    partition = wire.PARTITION_RESPONSE(
        partition_index=number,
        leader_id=node.id,
        leader_epoch=LEADER_EPOCH,
        current_voters=[voter],
    )
    listener = wire.LISTENER(name="PLAINTEXT", host=node.host, port=node.port)
    return wire.RESPONSE(
        topics=[wire.TOPIC_RESPONSE(topic_name=name, partitions=[partition])],
        nodes=[wire.NODE(node_id=node.id, listeners=[listener])],
    )


def _is_for_the_metadata_log(request: wire.DescribeQuorumRequest) -> bool:
    name, number = METADATA_LOG
    if len(request.topics) != 1 or request.topics[0].topic_name != name:
        return False
    partitions = request.topics[0].partitions
    return len(partitions) == 1 and partitions[0].partition_index == number


async def _unknown(topic: wire.TopicData, broker: Broker) -> wire.TopicDataResponse:
    partitions = [
        wire.PARTITION_RESPONSE(
            partition_index=one.partition_index,
            error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            error_message="This server does not host this topic-partition.",
        )
        async for one in broker.work.pace(topic.partitions)
    ]
    return wire.TOPIC_RESPONSE(topic_name=topic.topic_name, partitions=partitions)
