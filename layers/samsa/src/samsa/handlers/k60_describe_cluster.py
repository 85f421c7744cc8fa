"""DescribeCluster (key 60): the processes of the cluster, as Metadata names them. The controller is
the one with the lowest id. It has no special role: any process serves any request. It says what the
client may do with the cluster, if that is asked and the client has DESCRIBE on the cluster."""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.broker.operations import NOT_ASKED
from samsa.topics.permitted import on_cluster
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_cluster as wire

BROKERS = 1


@handles(ApiKey.DESCRIBE_CLUSTER)
async def describe_cluster(
    request: wire.DescribeClusterRequest, context: Context, broker: Broker
) -> wire.DescribeClusterResponse:
    if request.endpoint_type != BROKERS:
        return wire.RESPONSE(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="this is a broker; there are no controllers to reach",
            endpoint_type=request.endpoint_type,
            cluster_id=broker.cluster_id,
        )
    return wire.RESPONSE(
        cluster_id=broker.cluster_id,
        controller_id=broker.nodes.controller,
        brokers=[
            wire.BROKER(broker_id=node.id, host=node.host, port=node.port, rack=node.rack)
            for node in broker.nodes.named(context.address)
        ],
        cluster_authorized_operations=on_cluster(context.access)
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )
