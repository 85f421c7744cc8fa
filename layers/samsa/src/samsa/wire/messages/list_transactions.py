"""ListTransactions (key 66), versions 0-2."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, INT64, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "ListTransactionsRequest",
    Array("state_filters", STRING),
    Array("producer_id_filters", INT64),
    Field("duration_filter", INT64, since=1, default=-1),
    Field("transactional_id_pattern", STRING, since=2, nullable=True, default=None),
    flexible_since=0,
)

STATE = Struct(
    "TransactionState",
    Field("transactional_id", STRING),
    Field("producer_id", INT64),
    Field("transaction_state", STRING),
)
RESPONSE = Message(
    "ListTransactionsResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Array("unknown_state_filters", STRING),
    Array("transaction_states", STATE),
    flexible_since=0,
)
