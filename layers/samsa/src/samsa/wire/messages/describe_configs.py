"""DescribeConfigs (key 32), versions 0-4.

Version 0 is gone from Kafka 4: it says only whether a value is the default one.
"""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT8, INT16, INT32, STRING, Array, Field, Message, Struct

RESOURCE = Struct(
    "DescribeConfigsResource",
    Field("resource_type", INT8),
    Field("resource_name", STRING),
    Array("configuration_keys", STRING, nullable=True),
)
REQUEST = Message(
    "DescribeConfigsRequest",
    Array("resources", RESOURCE),
    Field("include_synonyms", BOOLEAN, since=1),
    Field("include_documentation", BOOLEAN, since=3),
    flexible_since=4,
)

SYNONYM = Struct(
    "DescribeConfigsSynonym",
    Field("name", STRING, since=1),
    Field("value", STRING, since=1, nullable=True),
    Field("source", INT8, since=1),
)
CONFIG = Struct(
    "DescribeConfigsResourceResult",
    Field("name", STRING),
    Field("value", STRING, nullable=True),
    Field("read_only", BOOLEAN),
    Field("is_default", BOOLEAN, until=0),
    Field("config_source", INT8, since=1, default=-1),
    Field("is_sensitive", BOOLEAN),
    Array("synonyms", SYNONYM, since=1),
    Field("config_type", INT8, since=3),
    Field("documentation", STRING, since=3, nullable=True),
)
RESULT = Struct(
    "DescribeConfigsResult",
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Field("resource_type", INT8),
    Field("resource_name", STRING),
    Array("configs", CONFIG),
)
RESPONSE = Message(
    "DescribeConfigsResponse",
    Field("throttle_time_ms", INT32),
    Array("results", RESULT),
    flexible_since=4,
)
