"""AlterUserScramCredentials (key 51), version 0."""

from __future__ import annotations

from samsa.wire.schema import BYTES, INT8, INT16, INT32, STRING, Array, Field, Message, Struct

DELETION = Struct(
    "ScramCredentialDeletion",
    Field("name", STRING),
    Field("mechanism", INT8),
)
UPSERTION = Struct(
    "ScramCredentialUpsertion",
    Field("name", STRING),
    Field("mechanism", INT8),
    Field("iterations", INT32),
    Field("salt", BYTES),
    Field("salted_password", BYTES),
)
REQUEST = Message(
    "AlterUserScramCredentialsRequest",
    Array("deletions", DELETION),
    Array("upsertions", UPSERTION),
    flexible_since=0,
)

RESULT = Struct(
    "AlterUserScramCredentialsResult",
    Field("user", STRING),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
)
RESPONSE = Message(
    "AlterUserScramCredentialsResponse",
    Field("throttle_time_ms", INT32),
    Array("results", RESULT),
    flexible_since=0,
)
