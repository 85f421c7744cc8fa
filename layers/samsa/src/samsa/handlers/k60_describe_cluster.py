"""DescribeCluster (key 60): the processes of the cluster, as Metadata names them. The controller is
the one with the lowest id: there is nothing to control, and any of them does what it is asked."""

from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_cluster import BROKER, RESPONSE

from .broker import Broker, Context, handles
from .operations import NOT_ASKED, ON_THE_CLUSTER

BROKERS = 1


@handles(ApiKey.DESCRIBE_CLUSTER)
async def describe_cluster(request: Any, context: Context, broker: Broker) -> Any:
    if request.endpoint_type != BROKERS:
        return RESPONSE(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="this is a broker; there are no controllers to reach",
            endpoint_type=request.endpoint_type,
            cluster_id=broker.cluster_id,
        )
    return RESPONSE(
        cluster_id=broker.cluster_id,
        controller_id=broker.nodes.controller,
        brokers=[
            BROKER(broker_id=node.id, host=node.host, port=node.port, rack=node.rack)
            for node in broker.nodes.named(context.address)
        ],
        cluster_authorized_operations=ON_THE_CLUSTER
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )
