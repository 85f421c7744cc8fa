"""CreateTopics (key 19).

Behaviour: a topic is there, and usable, when the answer comes. Any replication factor is granted,
because the stores replicate; what is listed afterwards is 1. A manual assignment may name node 0
only. Configs are checked as Kafka checks them and kept.

Versions: 1+ can validate only. 5+ answer with the configs. 7 with the topic's id.
"""

from collections import Counter
from typing import Any

from samsa.ports import Topic, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.create_topics import CONFIG_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .broker import NODE_ID, Broker, Context, handles
from .configs import TOPIC_CONFIGS, Refused

DEFAULT = -1
SOURCE_TOPIC, SOURCE_DEFAULT = 1, 5


@handles(ApiKey.CREATE_TOPICS)
async def create_topics(request: Any, context: Context, broker: Broker) -> Any:
    names = Counter(topic.name for topic in request.topics)
    return RESPONSE(
        topics=[
            await _create(topic, names, request.validate_only, broker) for topic in request.topics
        ]
    )


async def _create(asked: Any, names: Counter[str], dry_run: bool, broker: Broker) -> Any:
    try:
        if names[asked.name] > 1:
            raise Refused(ErrorCode.INVALID_REQUEST, "the request names this topic twice")
        partitions = _partitions(asked)
        topic = await broker.catalog.create(asked.name, partitions, _configs(asked), dry_run)
    except Refused as refused:
        return TOPIC_RESPONSE(
            name=asked.name, error_code=refused.code, error_message=refused.message
        )
    except Unavailable as error:
        return TOPIC_RESPONSE(
            name=asked.name, error_code=ErrorCode.REQUEST_TIMED_OUT, error_message=str(error)
        )
    return TOPIC_RESPONSE(
        name=topic.name,
        topic_id=topic.id,
        error_message=None,
        num_partitions=topic.partitions,
        replication_factor=1,
        configs=_described(topic),
    )


def _partitions(asked: Any) -> int:
    if not asked.assignments:
        if asked.replication_factor == 0 or asked.replication_factor < DEFAULT:
            raise Refused(
                ErrorCode.INVALID_REPLICATION_FACTOR, "the replication factor must be 1 or more"
            )
        return int(asked.num_partitions)
    if asked.num_partitions != DEFAULT or asked.replication_factor != DEFAULT:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "give either an assignment or the number of partitions and replicas, not both",
        )
    numbers = sorted(assignment.partition_index for assignment in asked.assignments)
    if numbers != list(range(len(numbers))):
        raise Refused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "partitions are numbered from 0 on")
    if any(list(assignment.broker_ids) != [NODE_ID] for assignment in asked.assignments):
        raise Refused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"the only node is {NODE_ID}")
    return len(numbers)


def _configs(asked: Any) -> dict[str, str]:
    configs: dict[str, str] = {}
    for config in asked.configs:
        if config.value is None:
            raise Refused(ErrorCode.INVALID_CONFIG, f"{config.name} has no value")
        configs[config.name] = config.value
    return configs


def _described(topic: Topic) -> list[Any]:
    return [
        CONFIG_RESPONSE(
            name=name,
            value=topic.configs.get(name, config.default),
            config_source=SOURCE_TOPIC if name in topic.configs else SOURCE_DEFAULT,
        )
        for name, config in TOPIC_CONFIGS.items()
    ]
