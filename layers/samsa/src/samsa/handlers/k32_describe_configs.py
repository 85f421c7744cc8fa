"""DescribeConfigs (key 32).

Behaviour: a topic has every config that Kafka knows, with its own value or Kafka's default; those
that change nothing here say so in their documentation. Nodes and groups have Kafka's names,
with what holds here or Kafka's defaults, and none of these can be changed. Other resources are
refused.

Versions: 0 says only whether a value is the default. 1+ where it comes from, and its synonyms. 3+
its type and documentation.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from samsa.ports import Topic, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_configs import CONFIG, RESPONSE, RESULT, SYNONYM

from .broker import Broker, Context, Rules, handles
from .broker_configs import BrokerConfig, broker_configs
from .configs import Refused, default_of
from .group_configs import GroupConfig, group_configs
from .resources import ResourceType, Source, check_resource, source_of
from .topic_configs import TOPIC_CONFIGS

WITHOUT_EFFECT = "Kept, and without effect here."
NOT_SERVED = "Without effect here."
Shared: TypeAlias = dict[str, Any]
"""Rows of what topics do not set themselves: the same for all of them."""


@handles(ApiKey.DESCRIBE_CONFIGS)
async def describe_configs(request: Any, context: Context, broker: Broker) -> Any:
    results = []
    shared: Shared = {}
    # Each once, as in Kafka.
    asked = {(row.resource_type, row.resource_name): row for row in request.resources}
    async for resource in broker.work.pace(asked.values()):
        try:
            configs = await _configs(resource, context, broker, shared)
        except Refused as refused:
            results.append(_result(resource, [], refused.code, refused.message))
        except Unavailable as error:
            results.append(_result(resource, [], ErrorCode.REQUEST_TIMED_OUT, str(error)))
        else:
            results.append(_result(resource, _asked_for(configs, resource, request)))
    return RESPONSE(results=results)


def _result(
    resource: Any,
    configs: list[Any],
    code: ErrorCode = ErrorCode.NONE,
    message: str = "",
) -> Any:
    return RESULT(
        error_code=code,
        error_message=message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=configs,
    )


async def _configs(
    resource: Any, context: Context, broker: Broker, shared: Shared
) -> Iterable[Any]:
    name, kind = resource.resource_name, check_resource(resource, broker.nodes)
    if kind is ResourceType.GROUP:
        if not name:
            raise Refused(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
        return [_of_group(config) for config in group_configs(broker)]
    if kind is ResourceType.TOPIC:
        topic = await broker.catalog.named(name)
        if topic is None:
            raise Refused(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
            )
        return [
            _of_topic(topic, key, broker.rules)
            if key in topic.configs
            else shared.get(key) or shared.setdefault(key, _of_topic(topic, key, broker.rules))
            for key in TOPIC_CONFIGS
        ]
    # Of every broker at once there are only those that were changed, and none can be.
    if not name:
        return []
    node = broker.nodes.find(int(name), context.address)
    return [_of_broker(config) for config in broker_configs(node, broker)]


def _asked_for(configs: Iterable[Any], resource: Any, request: Any) -> list[Any]:
    wanted = set(resource.configuration_keys or ())
    found = [row for row in configs if not wanted or row.name in wanted]
    for row in found:
        if not request.include_synonyms:
            row.synonyms = []
        if not request.include_documentation:
            row.documentation = None
    return found


def _of_topic(topic: Topic, name: str, rules: Rules) -> Any:
    config, source = TOPIC_CONFIGS[name], source_of(topic, name, rules)
    synonyms = []
    if name in topic.configs:
        synonyms.append(SYNONYM(name=name, value=topic.configs[name], source=Source.TOPIC))
    if config.synonym is not None:
        synonyms.append(SYNONYM(name=config.synonym, value=config.default, source=Source.DEFAULT))
    return CONFIG(
        name=name,
        value=topic.configs.get(name, default_of(name, rules)),
        is_default=source is not Source.TOPIC,
        config_source=source,
        synonyms=synonyms,
        config_type=config.kind.type,
        documentation=config.about if config.honoured else f"{config.about} {WITHOUT_EFFECT}",
    )


def _of_broker(config: BrokerConfig) -> Any:
    name, type_, value, source, default = config
    synonyms = []
    if source is Source.BROKER:
        synonyms.append(SYNONYM(name=name, value=value, source=source))
    if default is not None:
        synonyms.append(SYNONYM(name=name, value=default, source=Source.DEFAULT))
    return CONFIG(
        name=name,
        value=value,
        read_only=True,
        is_default=source is Source.DEFAULT,
        config_source=source,
        synonyms=synonyms,
        config_type=type_,
        documentation="",
    )


def _of_group(config: GroupConfig) -> Any:
    return CONFIG(
        name=config.name,
        value=config.value,
        read_only=True,
        is_default=True,
        config_source=Source.DEFAULT,
        synonyms=[SYNONYM(name=config.synonym, value=config.value, source=Source.DEFAULT)],
        config_type=config.type,
        documentation="" if config.honoured else NOT_SERVED,
    )
