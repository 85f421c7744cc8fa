"""DescribeConfigs (key 32).

Behaviour: a topic has every config of Kafka, with its own value or Kafka's default; the
documentation of a config says if it has no effect here. Nodes and groups have Kafka's config names,
with the values in use here or Kafka's defaults; none of these can be changed. Other resources are
refused. Needs DESCRIBE_CONFIGS on the topic, on the group, or on the cluster for nodes.

Versions: 0 says only whether a value is the default. 1+ say where it comes from, and its synonyms.
3+ its type and documentation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from samsa.broker.broker import Broker, Context, Rules, handles
from samsa.ports import Topic, Unavailable
from samsa.security.kinds import Operation
from samsa.topics.broker_configs import BrokerConfig, broker_configs
from samsa.topics.configs import Refused, default_of
from samsa.topics.group_configs import GroupConfig, group_configs
from samsa.topics.resources import (
    ConfigResourceType,
    Source,
    check_resource,
    raise_unless_may_configure,
    source_of,
)
from samsa.topics.topic_configs import TOPIC_CONFIGS
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_configs as wire

WITHOUT_EFFECT = "Kept, and without effect here."
NOT_SERVED = "Without effect here."
Shared: TypeAlias = "dict[str, wire.DescribeConfigsResourceResult]"
"""Rows of configs that a topic does not set itself: the same for all topics."""


@handles(ApiKey.DESCRIBE_CONFIGS)
async def describe_configs(
    request: wire.DescribeConfigsRequest, context: Context, broker: Broker
) -> wire.DescribeConfigsResponse:
    results = []
    shared: Shared = {}
    # Each resource is answered once, as in Kafka.
    asked = {(row.resource_type, row.resource_name): row for row in request.resources}
    async for resource in broker.work.pace(asked.values()):
        try:
            raise_unless_may_configure(resource, Operation.DESCRIBE_CONFIGS, context.access)
            configs = await _configs(resource, context, broker, shared)
        except Refused as refused:
            results.append(_result(resource, [], refused.code, refused.message))
        except Unavailable as error:
            results.append(_result(resource, [], ErrorCode.REQUEST_TIMED_OUT, str(error)))
        else:
            results.append(_result(resource, _asked_for(configs, resource, request)))
    return wire.RESPONSE(results=results)


def _result(
    resource: wire.DescribeConfigsResource,
    configs: list[wire.DescribeConfigsResourceResult],
    code: ErrorCode = ErrorCode.NONE,
    message: str = "",
) -> wire.DescribeConfigsResult:
    return wire.RESULT(
        error_code=code,
        error_message=message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=configs,
    )


async def _configs(
    resource: wire.DescribeConfigsResource, context: Context, broker: Broker, shared: Shared
) -> Iterable[wire.DescribeConfigsResourceResult]:
    name, kind = resource.resource_name, check_resource(resource, broker.nodes)
    if kind is ConfigResourceType.GROUP:
        if not name:
            raise Refused(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
        return [_of_group(config) for config in group_configs(broker)]
    if kind is ConfigResourceType.TOPIC:
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
    # An empty name means the configs that were changed for all brokers: there are never any.
    if not name:
        return []
    node = broker.nodes.find(int(name), context.address)
    return [_of_broker(config) for config in broker_configs(node, broker)]


def _asked_for(
    configs: Iterable[wire.DescribeConfigsResourceResult],
    resource: wire.DescribeConfigsResource,
    request: wire.DescribeConfigsRequest,
) -> list[wire.DescribeConfigsResourceResult]:
    wanted = set(resource.configuration_keys or ())
    found = [row for row in configs if not wanted or row.name in wanted]
    for row in found:
        if not request.include_synonyms:
            row.synonyms = []
        if not request.include_documentation:
            row.documentation = None
    return found


def _of_topic(topic: Topic, name: str, rules: Rules) -> wire.DescribeConfigsResourceResult:
    config, source = TOPIC_CONFIGS[name], source_of(topic, name, rules)
    synonyms = []
    if name in topic.configs:
        synonyms.append(wire.SYNONYM(name=name, value=topic.configs[name], source=Source.TOPIC))
    if config.synonym is not None:
        synonyms.append(
            wire.SYNONYM(name=config.synonym, value=config.default, source=Source.DEFAULT)
        )
    return wire.CONFIG(
        name=name,
        value=topic.configs.get(name, default_of(name, rules)),
        is_default=source is not Source.TOPIC,
        config_source=source,
        synonyms=synonyms,
        config_type=config.kind.type,
        documentation=config.about if config.honoured else f"{config.about} {WITHOUT_EFFECT}",
    )


def _of_broker(config: BrokerConfig) -> wire.DescribeConfigsResourceResult:
    name, type_, value, source, default = config
    synonyms = []
    if source is Source.BROKER:
        synonyms.append(wire.SYNONYM(name=name, value=value, source=source))
    if default is not None:
        synonyms.append(wire.SYNONYM(name=name, value=default, source=Source.DEFAULT))
    return wire.CONFIG(
        name=name,
        value=value,
        read_only=True,
        is_default=source is Source.DEFAULT,
        config_source=source,
        synonyms=synonyms,
        config_type=type_,
        documentation="",
    )


def _of_group(config: GroupConfig) -> wire.DescribeConfigsResourceResult:
    return wire.CONFIG(
        name=config.name,
        value=config.value,
        read_only=True,
        is_default=True,
        config_source=Source.DEFAULT,
        synonyms=[wire.SYNONYM(name=config.synonym, value=config.value, source=Source.DEFAULT)],
        config_type=config.type,
        documentation="" if config.honoured else NOT_SERVED,
    )
