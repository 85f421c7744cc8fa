"""What a message of the envelope is about, in a word or two."""

from collections.abc import Callable
from typing import Any

from samsa.wire.apis import APIS, ApiKey
from samsa_websocket.envelope import (
    EnvelopeError,
    Error,
    Failure,
    Gather,
    Message,
    ParkedReply,
    Ping,
    Reference,
    Reply,
    Request,
    Ticket,
    Upload,
    UrlRange,
    Wake,
    apart,
    decode,
)

UNKNOWN = "unknown"
KEY_BYTES = 2


def about(text: str) -> str:
    try:
        message = decode(text)
        return WORDS[type(message)](message)
    except (EnvelopeError, KeyError):
        return UNKNOWN


def _request(message: Request) -> str:
    frames = apart(memoryview(message.frame)) if message.several else [message.frame]
    name = _api(bytes(frames[0][:KEY_BYTES]) if frames else b"")
    return f"{len(frames)} × {name}" if message.several else name


def _api(start: bytes) -> str:
    if len(start) < KEY_BYTES:
        return UNKNOWN
    try:
        return APIS[ApiKey(int.from_bytes(start, "big"))].name
    except (KeyError, ValueError):
        return UNKNOWN


def _gather(message: Gather) -> str:
    count = sum(isinstance(piece, UrlRange) for piece in message.pieces)
    return f"{count} presigned ranges" if count != 1 else "1 presigned range"


def _wake(message: Wake) -> str:
    return "wake-up with records" if message.news else "wake-up"


WORDS: dict[type[Message], Callable[[Any], str]] = {
    Request: _request,
    Reference: lambda _: "uploaded request",
    Upload: lambda _: "wants to upload",
    Ticket: lambda _: "presigned URL",
    Reply: lambda _: "answer",
    ParkedReply: lambda _: "parked",
    Gather: _gather,
    Wake: _wake,
    Error: lambda message: f"error: {message.code.value}",
    Failure: lambda _: "failure",
    Ping: lambda _: "ping",
}
