"""AlterReplicaLogDirs (key 34).

Behaviour: all stored data counts as one directory. A move to it changes nothing, and any other
directory is not found. If a partition is named twice, the last counts. Needs ALTER on
the cluster.
"""

from __future__ import annotations

from collections import defaultdict

from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Topic, Unavailable
from samsa.security.kinds import Operation
from samsa.topics.broker_configs import LOG_DIR
from samsa.topics.catalog import partition_of
from samsa.topics.permitted import may_cluster
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import alter_replica_log_dirs as wire


@handles(ApiKey.ALTER_REPLICA_LOG_DIRS)
async def alter_replica_log_dirs(
    request: wire.AlterReplicaLogDirsRequest, context: Context, broker: Broker
) -> wire.AlterReplicaLogDirsResponse:
    may = may_cluster(context.access, Operation.ALTER)
    refused = None if may else ErrorCode.CLUSTER_AUTHORIZATION_FAILED

    async def answer(asked: tuple[str, dict[int, str]]) -> wire.AlterReplicaLogDirTopicResult:
        name, paths = asked
        topic = refused or await _topic(name, broker)
        partitions = [
            wire.PARTITION_RESPONSE(partition_index=number, error_code=_move(topic, number, path))
            async for number, path in broker.work.pace(paths.items())
        ]
        return wire.TOPIC_RESPONSE(topic_name=name, partitions=partitions)

    asked = await _asked_for(request, broker)
    return wire.RESPONSE(results=await broker.work.each(asked.items(), answer))


async def _asked_for(
    request: wire.AlterReplicaLogDirsRequest, broker: Broker
) -> dict[str, dict[int, str]]:
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
    if topic is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        return topic
    if path != LOG_DIR:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if isinstance(topic, ErrorCode):
        return topic
    if topic is None or partition_of(topic, number) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE
