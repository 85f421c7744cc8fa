"""EndTxn (key 26), versions 0-5. From 5 on it answers what the producer uses from now on."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT16, INT32, INT64, STRING, Field, Message

REQUEST = Message(
    "EndTxnRequest",
    Field("transactional_id", STRING),
    Field("producer_id", INT64),
    Field("producer_epoch", INT16),
    Field("committed", BOOLEAN),
    flexible_since=3,
)

RESPONSE = Message(
    "EndTxnResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Field("producer_id", INT64, since=5, default=-1),
    Field("producer_epoch", INT16, since=5, default=-1),
    flexible_since=3,
)
