"""ListConfigResources (key 74): what DescribeConfigs can be asked for.

Behaviour: the topics and the nodes. Of groups, only those with configs of their own, as in
Kafka: none. Loggers and client metrics have no configs here.

Versions: 0 was ListClientMetricsResources, and is answered none. 1+ name the types that are wanted;
none means all.
"""

from typing import Any

from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.list_config_resources import RESOURCE, RESPONSE

from .broker import Broker, Context, handles
from .resources import ResourceType

BROKER_LOGGER, CLIENT_METRICS = 8, 16
TYPES = {*ResourceType, BROKER_LOGGER, CLIENT_METRICS}


@handles(ApiKey.LIST_CONFIG_RESOURCES)
async def list_config_resources(request: Any, context: Context, broker: Broker) -> Any:
    wanted = _wanted(request, context)
    if not wanted <= TYPES:
        return RESPONSE(error_code=ErrorCode.UNSUPPORTED_VERSION)
    found = []
    if ResourceType.BROKER in wanted:
        found += [
            RESOURCE(resource_name=str(node_id), resource_type=ResourceType.BROKER)
            for node_id in broker.nodes.ids
        ]
    if ResourceType.TOPIC in wanted:
        try:
            topics = await broker.catalog.all()
        except Unavailable:
            return RESPONSE(error_code=ErrorCode.REQUEST_TIMED_OUT)
        found += [
            RESOURCE(resource_name=topic.name, resource_type=ResourceType.TOPIC)
            async for topic in broker.work.pace(topics)
        ]
    return RESPONSE(config_resources=found)


def _wanted(request: Any, context: Context) -> set[int]:
    if context.version == 0:
        return {CLIENT_METRICS}
    return set(request.resource_types) or TYPES
