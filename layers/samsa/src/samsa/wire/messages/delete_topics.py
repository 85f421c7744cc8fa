"""DeleteTopics (key 20), versions 0-6."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, STRING, UUID, Array, Field, Message, Struct

TOPIC = Struct(
    "DeleteTopicState",
    Field("name", STRING, since=6, nullable=True, default=None),
    Field("topic_id", UUID, since=6),
)
REQUEST = Message(
    "DeleteTopicsRequest",
    Array("topics", TOPIC, since=6),
    Array("topic_names", STRING, until=5),
    Field("timeout_ms", INT32),
    flexible_since=4,
)

TOPIC_RESPONSE = Struct(
    "DeletableTopicResult",
    Field("name", STRING, nullable_since=6),
    Field("topic_id", UUID, since=6),
    Field("error_code", INT16),
    Field("error_message", STRING, since=5, nullable=True, default=None),
)
RESPONSE = Message(
    "DeleteTopicsResponse",
    Field("throttle_time_ms", INT32, since=1),
    Array("responses", TOPIC_RESPONSE),
    flexible_since=4,
)
