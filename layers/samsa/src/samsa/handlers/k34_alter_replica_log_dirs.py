"""AlterReplicaLogDirs (key 34).

Behaviour: all that is stored counts as one directory, so a partition that is moved there stays
where it is, and every other directory is not found. If a partition is named twice, the last counts.
"""

from collections import defaultdict
from typing import Any

from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.alter_replica_log_dirs import PARTITION_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .broker import Broker, Context, handles
from .broker_configs import LOG_DIR
from .catalog import partition_of


@handles(ApiKey.ALTER_REPLICA_LOG_DIRS)
async def alter_replica_log_dirs(request: Any, context: Context, broker: Broker) -> Any:
    results = []
    for name, paths in _asked_for(request).items():
        partitions = [
            PARTITION_RESPONSE(
                partition_index=number, error_code=await _move(name, number, path, broker)
            )
            for number, path in paths.items()
        ]
        results.append(TOPIC_RESPONSE(topic_name=name, partitions=partitions))
    return RESPONSE(results=results)


def _asked_for(request: Any) -> dict[str, dict[int, str]]:
    """The directory of each partition, by topic."""
    asked: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for directory in request.dirs:
        for topic in directory.topics:
            asked[topic.name] |= dict.fromkeys(topic.partitions, directory.path)
    return {name: paths for name, paths in asked.items() if paths}


async def _move(name: str, number: int, path: str, broker: Broker) -> ErrorCode:
    if path != LOG_DIR:
        return ErrorCode.LOG_DIR_NOT_FOUND
    try:
        topic = await broker.catalog.named(name)
    except Unavailable:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if topic is None or partition_of(topic, number) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE
