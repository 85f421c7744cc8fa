"""AlterReplicaLogDirs (key 34).

Behaviour: all that is stored counts as one directory, so a partition that is moved there stays
where it is, and every other directory is not found. If a partition is named twice, the last counts.
"""

from collections import defaultdict
from typing import Any

from samsa.ports import Topic, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.alter_replica_log_dirs import PARTITION_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .broker import Broker, Context, handles
from .broker_configs import LOG_DIR
from .catalog import partition_of


@handles(ApiKey.ALTER_REPLICA_LOG_DIRS)
async def alter_replica_log_dirs(request: Any, context: Context, broker: Broker) -> Any:
    async def answer(asked: tuple[str, dict[int, str]]) -> Any:
        name, paths = asked
        topic = await _topic(name, broker)
        partitions = [
            PARTITION_RESPONSE(partition_index=number, error_code=_move(topic, number, path))
            async for number, path in broker.work.pace(paths.items())
        ]
        return TOPIC_RESPONSE(topic_name=name, partitions=partitions)

    asked = await _asked_for(request, broker)
    return RESPONSE(results=await broker.work.each(asked.items(), answer))


async def _asked_for(request: Any, broker: Broker) -> dict[str, dict[int, str]]:
    """The directory of each partition, by topic."""
    asked: defaultdict[str, dict[int, str]] = defaultdict(dict)
    async for directory in broker.work.pace(request.dirs):
        async for topic in broker.work.pace(directory.topics):
            asked[topic.name].update(dict.fromkeys(topic.partitions, directory.path))
    return {name: paths for name, paths in asked.items() if paths}


async def _topic(name: str, broker: Broker) -> Topic | ErrorCode | None:
    try:
        return await broker.catalog.named(name)
    except Unavailable:
        return ErrorCode.KAFKA_STORAGE_ERROR


def _move(topic: Topic | ErrorCode | None, number: int, path: str) -> ErrorCode:
    if path != LOG_DIR:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if isinstance(topic, ErrorCode):
        return topic
    if topic is None or partition_of(topic, number) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE
