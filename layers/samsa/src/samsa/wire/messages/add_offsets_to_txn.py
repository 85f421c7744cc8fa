"""AddOffsetsToTxn (key 25), versions 0-4."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, INT64, STRING, Field, Message

REQUEST = Message(
    "AddOffsetsToTxnRequest",
    Field("transactional_id", STRING),
    Field("producer_id", INT64),
    Field("producer_epoch", INT16),
    Field("group_id", STRING),
    flexible_since=3,
)

RESPONSE = Message(
    "AddOffsetsToTxnResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    flexible_since=3,
)
