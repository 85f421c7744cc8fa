"""Kafka frames inside the text messages of an API Gateway WebSocket. Pure.

The page for people is docs/envelope.md.
"""

from samsa_websocket.envelope.greeting import Greeting, greeting_query, read_greeting
from samsa_websocket.envelope.messages import (
    VERSION,
    EnvelopeError,
    Error,
    ErrorAction,
    Failure,
    Frame,
    Gather,
    Message,
    News,
    ParkedReply,
    Ping,
    Reference,
    Reply,
    Request,
    Ticket,
    Upload,
    UrlRange,
    Wake,
)
from samsa_websocket.envelope.several import MOST_TOGETHER, apart, joined
from samsa_websocket.envelope.sizes import (
    LARGEST_INLINE,
    MAX_MESSAGE,
    MAX_PART,
    base64_size,
    fits,
    parts,
)
from samsa_websocket.envelope.text import decode, encode

__all__ = [
    "LARGEST_INLINE",
    "MAX_MESSAGE",
    "MAX_PART",
    "MOST_TOGETHER",
    "VERSION",
    "EnvelopeError",
    "Error",
    "ErrorAction",
    "Failure",
    "Frame",
    "Gather",
    "Greeting",
    "Message",
    "News",
    "ParkedReply",
    "Ping",
    "Reference",
    "Reply",
    "Request",
    "Ticket",
    "Upload",
    "UrlRange",
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
