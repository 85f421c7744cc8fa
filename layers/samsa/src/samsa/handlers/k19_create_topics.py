"""CreateTopics (key 19).

Behaviour: a topic is there, and usable, when the answer comes. Any replication factor is granted,
because the stores replicate; what is listed afterwards is 1. A manual assignment may name nodes
that there are only. Configs are checked as Kafka checks them and kept.

Versions: 1+ can validate only. 5+ answer with the configs. 7 with the topic's id.
"""

from collections import Counter
from typing import Any

from samsa.ports import Topic
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.create_topics import CONFIG_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .assignments import check_assignment
from .broker import Broker, Context, Rules, handles
from .catalog import check_count
from .configs import Refused, default_of
from .nodes import Nodes
from .per_topic import each_topic
from .resources import source_of
from .topic_configs import TOPIC_CONFIGS

DEFAULT = -1


@handles(ApiKey.CREATE_TOPICS)
async def create_topics(request: Any, context: Context, broker: Broker) -> Any:
    async def create(asked: Any) -> Any:
        dry_run = request.validate_only
        topic = await broker.catalog.create(
            asked.name, _partitions(asked, broker.nodes), _configs(asked), dry_run
        )
        return TOPIC_RESPONSE(
            name=topic.name,
            topic_id=topic.id,
            error_message=None,
            num_partitions=topic.partitions,
            replication_factor=1,
            configs=_described(topic, broker.rules),
        )

    return RESPONSE(topics=await each_topic(request.topics, TOPIC_RESPONSE, create, broker))


def _partitions(asked: Any, nodes: Nodes) -> int:
    if asked.assignments:
        return _assigned(asked, nodes)
    if asked.replication_factor == 0 or asked.replication_factor < DEFAULT:
        raise Refused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    return int(asked.num_partitions)


def _assigned(asked: Any, nodes: Nodes) -> int:
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


def _configs(asked: Any) -> dict[str, str]:
    configs: dict[str, str] = {}
    for config in asked.configs:
        if config.value is None:
            raise Refused(
                ErrorCode.INVALID_CONFIG,
                f"Null value not supported for topic configs: {config.name}",
            )
        configs[config.name] = config.value
    return configs


def _described(topic: Topic, rules: Rules) -> list[Any]:
    return [
        CONFIG_RESPONSE(
            name=name,
            value=topic.configs.get(name, default_of(name, rules)),
            config_source=source_of(topic, name, rules),
        )
        for name in TOPIC_CONFIGS
    ]
