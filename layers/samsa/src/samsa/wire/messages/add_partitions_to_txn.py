"""AddPartitionsToTxn (key 24), versions 0-5.

Clients use 0-3, with one transaction. Brokers use 4 and 5 among themselves, with several, also to
ask whether partitions are in a transaction (`verify_only`).
"""

from __future__ import annotations

from samsa.wire.schema import (
    BOOLEAN,
    INT16,
    INT32,
    INT64,
    STRING,
    Array,
    Field,
    Message,
    Struct,
)

TOPIC = Struct(
    "AddPartitionsToTxnTopic",
    Field("name", STRING),
    Array("partitions", INT32),
)
TRANSACTION = Struct(
    "AddPartitionsToTxnTransaction",
    Field("transactional_id", STRING, since=4),
    Field("producer_id", INT64, since=4),
    Field("producer_epoch", INT16, since=4),
    Field("verify_only", BOOLEAN, since=4),
    Array("topics", TOPIC, since=4),
)
REQUEST = Message(
    "AddPartitionsToTxnRequest",
    Array("transactions", TRANSACTION, since=4),
    Field("v3_and_below_transactional_id", STRING, until=3),
    Field("v3_and_below_producer_id", INT64, until=3),
    Field("v3_and_below_producer_epoch", INT16, until=3),
    Array("v3_and_below_topics", TOPIC, until=3),
    flexible_since=3,
)

PARTITION_RESULT = Struct(
    "AddPartitionsToTxnPartitionResult",
    Field("partition_index", INT32),
    Field("partition_error_code", INT16),
)
TOPIC_RESULT = Struct(
    "AddPartitionsToTxnTopicResult",
    Field("name", STRING),
    Array("results_by_partition", PARTITION_RESULT),
)
RESULT = Struct(
    "AddPartitionsToTxnResult",
    Field("transactional_id", STRING, since=4),
    Array("topic_results", TOPIC_RESULT, since=4),
)
RESPONSE = Message(
    "AddPartitionsToTxnResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16, since=4),
    Array("results_by_transaction", RESULT, since=4),
    Array("results_by_topic_v3_and_below", TOPIC_RESULT, until=3),
    flexible_since=3,
)
