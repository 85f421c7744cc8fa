"""SaslHandshake (key 17), versions 0-1. No version is flexible."""

from __future__ import annotations

from samsa.wire.schema import INT16, STRING, Array, Field, Message

NEVER = 2**15
REQUEST = Message(
    "SaslHandshakeRequest",
    Field("mechanism", STRING),
    flexible_since=NEVER,
)
RESPONSE = Message(
    "SaslHandshakeResponse",
    Field("error_code", INT16),
    Array("mechanisms", STRING),
    flexible_since=NEVER,
)
