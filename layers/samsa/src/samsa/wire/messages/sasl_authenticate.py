"""SaslAuthenticate (key 36), versions 0-2."""

from __future__ import annotations

from samsa.wire.schema import BYTES, INT16, INT64, STRING, Field, Message

REQUEST = Message(
    "SaslAuthenticateRequest",
    Field("auth_bytes", BYTES),
    flexible_since=2,
)
RESPONSE = Message(
    "SaslAuthenticateResponse",
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Field("auth_bytes", BYTES),
    Field("session_lifetime_ms", INT64, since=1),
    flexible_since=2,
)
