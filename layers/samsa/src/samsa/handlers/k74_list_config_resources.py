"""ListConfigResources (key 74): the resources that DescribeConfigs can describe.

Behaviour: lists the topics and the nodes. As in Kafka, only groups with configs of their own are
listed: there are none. Loggers and client metrics have no configs here. Needs DESCRIBE_CONFIGS on
the cluster.

Versions: 0 was ListClientMetricsResources, and gets an empty list. 1+ name the types that are
wanted; an empty list of types means all.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_cluster
from samsa.topics.resources import ConfigResourceType
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import list_config_resources as wire

BROKER_LOGGER, CLIENT_METRICS = 8, 16
TYPES = {*ConfigResourceType, BROKER_LOGGER, CLIENT_METRICS}


@handles(ApiKey.LIST_CONFIG_RESOURCES)
async def list_config_resources(
    request: wire.ListConfigResourcesRequest, context: Context, broker: Broker
) -> wire.ListConfigResourcesResponse:
    if not may_cluster(context.access, Operation.DESCRIBE_CONFIGS):
        return wire.RESPONSE(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    wanted = _wanted(request, context)
    if not wanted <= TYPES:
        return wire.RESPONSE(error_code=ErrorCode.UNSUPPORTED_VERSION)
    found = []
    if ConfigResourceType.BROKER in wanted:
        found += [
            wire.RESOURCE(resource_name=str(node_id), resource_type=ConfigResourceType.BROKER)
            for node_id in broker.nodes.ids
        ]
    if ConfigResourceType.TOPIC in wanted:
        try:
            topics = await broker.catalog.all()
        except Unavailable:
            return wire.RESPONSE(error_code=ErrorCode.REQUEST_TIMED_OUT)
        found += [
            wire.RESOURCE(resource_name=topic.name, resource_type=ConfigResourceType.TOPIC)
            async for topic in broker.work.pace(topics)
        ]
    return wire.RESPONSE(config_resources=found)


def _wanted(request: wire.ListConfigResourcesRequest, context: Context) -> set[int]:
    if context.version == 0:
        return {CLIENT_METRICS}
    return set(request.resource_types) or TYPES
