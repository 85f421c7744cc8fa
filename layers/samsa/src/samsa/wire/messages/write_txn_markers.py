"""WriteTxnMarkers (key 27), versions 1-2. Kafka 4 dropped version 0."""

from __future__ import annotations

from samsa.wire.schema import (
    BOOLEAN,
    INT8,
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
    "WritableTxnMarkerTopic",
    Field("name", STRING),
    Array("partition_indexes", INT32),
)
MARKER = Struct(
    "WritableTxnMarker",
    Field("producer_id", INT64),
    Field("producer_epoch", INT16),
    Field("transaction_result", BOOLEAN),
    Array("topics", TOPIC),
    Field("coordinator_epoch", INT32),
    Field("transaction_version", INT8, since=2),
)
REQUEST = Message(
    "WriteTxnMarkersRequest",
    Array("markers", MARKER),
    flexible_since=1,
)

PARTITION_RESULT = Struct(
    "WritableTxnMarkerPartitionResult",
    Field("partition_index", INT32),
    Field("error_code", INT16),
)
TOPIC_RESULT = Struct(
    "WritableTxnMarkerTopicResult",
    Field("name", STRING),
    Array("partitions", PARTITION_RESULT),
)
MARKER_RESULT = Struct(
    "WritableTxnMarkerResult",
    Field("producer_id", INT64),
    Array("topics", TOPIC_RESULT),
)
RESPONSE = Message(
    "WriteTxnMarkersResponse",
    Array("markers", MARKER_RESULT),
    flexible_since=1,
)
