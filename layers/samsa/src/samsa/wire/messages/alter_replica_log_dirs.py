"""AlterReplicaLogDirs (key 34), versions 0-2."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, STRING, Array, Field, Message, Struct

TOPIC = Struct(
    "AlterReplicaLogDirTopic",
    Field("name", STRING),
    Array("partitions", INT32),
)
DIR = Struct(
    "AlterReplicaLogDir",
    Field("path", STRING),
    Array("topics", TOPIC),
)
REQUEST = Message(
    "AlterReplicaLogDirsRequest",
    Array("dirs", DIR),
    flexible_since=2,
)

PARTITION_RESPONSE = Struct(
    "AlterReplicaLogDirPartitionResult",
    Field("partition_index", INT32),
    Field("error_code", INT16),
)
TOPIC_RESPONSE = Struct(
    "AlterReplicaLogDirTopicResult",
    Field("topic_name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "AlterReplicaLogDirsResponse",
    Field("throttle_time_ms", INT32),
    Array("results", TOPIC_RESPONSE),
    flexible_since=2,
)
