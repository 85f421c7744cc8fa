"""InitProducerId (key 22), versions 0-5.

Version 6 (two-phase commit, KIP-939) is unstable in Kafka 4.3, and Kafka does not offer it."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, INT64, STRING, Field, Message

REQUEST = Message(
    "InitProducerIdRequest",
    Field("transactional_id", STRING, nullable=True),
    Field("transaction_timeout_ms", INT32),
    Field("producer_id", INT64, since=3, default=-1),
    Field("producer_epoch", INT16, since=3, default=-1),
    flexible_since=2,
)

RESPONSE = Message(
    "InitProducerIdResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Field("producer_id", INT64, default=-1),
    Field("producer_epoch", INT16),
    flexible_since=2,
)
