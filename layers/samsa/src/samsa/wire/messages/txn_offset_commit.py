"""TxnOffsetCommit (key 28), versions 0-5. From 5 on it also adds the group to the transaction."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, INT64, STRING, Array, Field, Message, Struct

PARTITION = Struct(
    "TxnOffsetCommitRequestPartition",
    Field("partition_index", INT32),
    Field("committed_offset", INT64),
    Field("committed_leader_epoch", INT32, since=2, default=-1),
    Field("committed_metadata", STRING, nullable=True),
)
TOPIC = Struct(
    "TxnOffsetCommitRequestTopic",
    Field("name", STRING),
    Array("partitions", PARTITION),
)
REQUEST = Message(
    "TxnOffsetCommitRequest",
    Field("transactional_id", STRING),
    Field("group_id", STRING),
    Field("producer_id", INT64),
    Field("producer_epoch", INT16),
    Field("generation_id", INT32, since=3, default=-1),
    Field("member_id", STRING, since=3),
    Field("group_instance_id", STRING, since=3, nullable=True, default=None),
    Array("topics", TOPIC),
    flexible_since=3,
)

PARTITION_RESPONSE = Struct(
    "TxnOffsetCommitResponsePartition",
    Field("partition_index", INT32),
    Field("error_code", INT16),
)
TOPIC_RESPONSE = Struct(
    "TxnOffsetCommitResponseTopic",
    Field("name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "TxnOffsetCommitResponse",
    Field("throttle_time_ms", INT32),
    Array("topics", TOPIC_RESPONSE),
    flexible_since=3,
)
