"""CreateTopics (key 19).

Behaviour: a topic exists, and can be used, when the answer comes. Any replication factor is
accepted, because the stores replicate; the answer says 1. A manual assignment may only name
existing nodes. Configs are checked as in Kafka, and kept. Needs CREATE on the cluster or on the
topic; without DESCRIBE_CONFIGS on the topic the answer does not say how it was made.

Versions: 1+ can validate only. 5+ answer with the configs. 6+ are refused topics over the quota of
mutations, also if they only validate. 7 with the topic's id.
"""

from __future__ import annotations

from collections import Counter

from samsa.broker.broker import Broker, Context, Rules, handles
from samsa.broker.nodes import Nodes
from samsa.ports import Topic
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.assignments import check_assignment
from samsa.topics.catalog import check_count
from samsa.topics.configs import Refused, default_of
from samsa.topics.mutations import Mutations
from samsa.topics.per_topic import each_topic
from samsa.topics.permitted import is_visible, may_quietly, may_topic
from samsa.topics.resources import source_of
from samsa.topics.topic_configs import TOPIC_CONFIGS
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_topics as wire

DEFAULT = -1
KNOWS_THROTTLING = 6


@handles(ApiKey.CREATE_TOPICS)
async def create_topics(
    request: wire.CreateTopicsRequest, context: Context, broker: Broker
) -> wire.CreateTopicsResponse:
    access = context.access
    mutations = Mutations(context, KNOWS_THROTTLING)
    may_create_all = may_quietly(access, Operation.CREATE)

    async def create(asked: wire.CreatableTopic) -> wire.CreatableTopicResult:
        dry_run = request.validate_only
        if not (may_create_all or may_topic(access, Operation.CREATE, asked.name)):
            raise Refused(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
        count, configs = _partitions(asked, broker.nodes), _configs(asked)
        mutations.check()
        topic = await broker.catalog.create(asked.name, count, configs, dry_run)
        mutations.count(topic.partitions)
        if not is_visible(access, Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name):
            return wire.TOPIC_RESPONSE(
                name=topic.name,
                topic_id=topic.id,
                error_message=None,
                topic_config_error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            )
        return wire.TOPIC_RESPONSE(
            name=topic.name,
            topic_id=topic.id,
            error_message=None,
            num_partitions=topic.partitions,
            replication_factor=1,
            configs=_described(topic, broker.rules),
        )

    topics = await each_topic(request.topics, wire.TOPIC_RESPONSE, create, broker)
    return wire.RESPONSE(topics=topics, throttle_time_ms=mutations.throttle_ms)


def _partitions(asked: wire.CreatableTopic, nodes: Nodes) -> int:
    if asked.assignments:
        return _assigned(asked, nodes)
    if asked.replication_factor == 0 or asked.replication_factor < DEFAULT:
        raise Refused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    return int(asked.num_partitions)


def _assigned(asked: wire.CreatableTopic, nodes: Nodes) -> int:
    for name, value in (
        ("replication factor", asked.replication_factor),
        ("numPartitions", asked.num_partitions),
    ):
        if value != DEFAULT:
            raise Refused(
                ErrorCode.INVALID_REQUEST,
                f"A manual partition assignment was specified, but {name} was not set to -1.",
            )
    check_count(len(asked.assignments))
    numbers = Counter(assignment.partition_index for assignment in asked.assignments)
    for assignment in asked.assignments:
        number = assignment.partition_index
        if numbers[number] > 1:
            raise Refused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {number}",
            )
        check_assignment(assignment.broker_ids, nodes)
    if set(numbers) != set(range(len(numbers))):
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return len(numbers)


def _configs(asked: wire.CreatableTopic) -> dict[str, str]:
    configs: dict[str, str] = {}
    for config in asked.configs:
        if config.value is None:
            raise Refused(
                ErrorCode.INVALID_CONFIG,
                f"Null value not supported for topic configs: {config.name}",
            )
        configs[config.name] = config.value
    return configs


def _described(topic: Topic, rules: Rules) -> list[wire.CreatableTopicConfigs]:
    return [
        wire.CONFIG_RESPONSE(
            name=name,
            value=topic.configs.get(name, default_of(name, rules)),
            config_source=source_of(topic, name, rules),
        )
        for name in TOPIC_CONFIGS
    ]
