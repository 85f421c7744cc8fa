"""DescribeTransactions (key 65), version 0."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, INT64, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "DescribeTransactionsRequest",
    Array("transactional_ids", STRING),
    flexible_since=0,
)

TOPIC = Struct(
    "TopicData",
    Field("topic", STRING),
    Array("partitions", INT32),
)
STATE = Struct(
    "TransactionState",
    Field("error_code", INT16),
    Field("transactional_id", STRING),
    Field("transaction_state", STRING),
    Field("transaction_timeout_ms", INT32),
    Field("transaction_start_time_ms", INT64),
    Field("producer_id", INT64),
    Field("producer_epoch", INT16),
    Array("topics", TOPIC),
)
RESPONSE = Message(
    "DescribeTransactionsResponse",
    Field("throttle_time_ms", INT32),
    Array("transaction_states", STATE),
    flexible_since=0,
)
