"""Kafka frames inside the text messages of an API Gateway WebSocket. Pure.

The page for people is docs/envelope.md.
"""

from samsa.envelope.greeting import Greeting, greeting_query, read_greeting
from samsa.envelope.messages import (
    VERSION,
    EnvelopeError,
    Error,
    ErrorCode,
    Failure,
    Frame,
    Gather,
    Message,
    News,
    Parked,
    Ping,
    Range,
    Reference,
    Reply,
    Request,
    Ticket,
    Upload,
    Wake,
)
from samsa.envelope.several import MOST_TOGETHER, apart, joined
from samsa.envelope.sizes import (
    LARGEST_INLINE,
    MAX_MESSAGE,
    MAX_PART,
    base64_size,
    fits,
    parts,
)
from samsa.envelope.text import decode, encode

__all__ = [
    "LARGEST_INLINE",
    "MAX_MESSAGE",
    "MAX_PART",
    "MOST_TOGETHER",
    "VERSION",
    "EnvelopeError",
    "Error",
    "ErrorCode",
    "Failure",
    "Frame",
    "Gather",
    "Greeting",
    "Message",
    "News",
    "Parked",
    "Ping",
    "Range",
    "Reference",
    "Reply",
    "Request",
    "Ticket",
    "Upload",
    "Wake",
    "apart",
    "base64_size",
    "decode",
    "encode",
    "fits",
    "greeting_query",
    "joined",
    "parts",
    "read_greeting",
]
