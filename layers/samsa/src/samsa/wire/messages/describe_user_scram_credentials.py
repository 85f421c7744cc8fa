"""DescribeUserScramCredentials (key 50), version 0."""

from __future__ import annotations

from samsa.wire.schema import INT8, INT16, INT32, STRING, Array, Field, Message, Struct

USER = Struct(
    "UserName",
    Field("name", STRING),
)
REQUEST = Message(
    "DescribeUserScramCredentialsRequest",
    Array("users", USER, nullable=True),
    flexible_since=0,
)

CREDENTIAL = Struct(
    "CredentialInfo",
    Field("mechanism", INT8),
    Field("iterations", INT32),
)
RESULT = Struct(
    "DescribeUserScramCredentialsResult",
    Field("user", STRING),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Array("credential_infos", CREDENTIAL),
)
RESPONSE = Message(
    "DescribeUserScramCredentialsResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Array("results", RESULT),
    flexible_since=0,
)
