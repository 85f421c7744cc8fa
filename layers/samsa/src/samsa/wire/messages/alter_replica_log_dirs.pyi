# Generated from alter_replica_log_dirs.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class AlterReplicaLogDirTopic(Row):
    name: str
    partitions: list[int]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[int] = ...,
    ) -> None: ...

class AlterReplicaLogDir(Row):
    path: str
    topics: list[AlterReplicaLogDirTopic]
    def __init__(
        self,
        *,
        path: str = ...,
        topics: list[AlterReplicaLogDirTopic] = ...,
    ) -> None: ...

class AlterReplicaLogDirsRequest(Row):
    dirs: list[AlterReplicaLogDir]
    def __init__(
        self,
        *,
        dirs: list[AlterReplicaLogDir] = ...,
    ) -> None: ...

class AlterReplicaLogDirPartitionResult(Row):
    partition_index: int
    error_code: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
    ) -> None: ...

class AlterReplicaLogDirTopicResult(Row):
    topic_name: str
    partitions: list[AlterReplicaLogDirPartitionResult]
    def __init__(
        self,
        *,
        topic_name: str = ...,
        partitions: list[AlterReplicaLogDirPartitionResult] = ...,
    ) -> None: ...

class AlterReplicaLogDirsResponse(Row):
    throttle_time_ms: int
    results: list[AlterReplicaLogDirTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[AlterReplicaLogDirTopicResult] = ...,
    ) -> None: ...

TOPIC: StructOf[AlterReplicaLogDirTopic]
DIR: StructOf[AlterReplicaLogDir]
REQUEST: MessageOf[AlterReplicaLogDirsRequest]
PARTITION_RESPONSE: StructOf[AlterReplicaLogDirPartitionResult]
TOPIC_RESPONSE: StructOf[AlterReplicaLogDirTopicResult]
RESPONSE: MessageOf[AlterReplicaLogDirsResponse]
