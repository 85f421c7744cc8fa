"""Writes the fields of a message, and reads them with strict checks: the input is not trusted."""

import binascii
import json
from collections.abc import Mapping
from typing import Any

from samsa_websocket.envelope.messages import EnvelopeError, Frame

LARGEST_INTEGER = 2**63 - 1


def to_base64(frame: Frame) -> str:
    return binascii.b2a_base64(frame, newline=False).decode("ascii")


def compact(more: Mapping[str, Any]) -> str:
    return json.dumps(more, separators=(",", ":"))


def from_base64(text: Any) -> bytes:
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except (TypeError, ValueError) as problem:
        raise EnvelopeError(f"not base64: {problem}") from None


def number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > len(str(LARGEST_INTEGER)):
        raise EnvelopeError(f"{text[:20]!r} is not a number")
    return natural(int(text))


def object_in(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise EnvelopeError(f"not JSON: {type(problem).__name__}") from None
    if not isinstance(found, dict):
        raise EnvelopeError("not a JSON object")
    return found


def integer(value: Any) -> int:
    if type(value) is not int or abs(value) > LARGEST_INTEGER:
        raise EnvelopeError(f"{type(value).__name__} where an integer belongs")
    return value


def natural(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST_INTEGER:
        raise EnvelopeError(f"{type(value).__name__} where a natural number belongs")
    return value


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise EnvelopeError(f"{type(value).__name__} where a text belongs")
    return value


def list_of(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise EnvelopeError(f"{type(value).__name__} where a list belongs")
    return value


def texts(value: Any) -> tuple[str, ...]:
    return tuple(text(each) for each in list_of(value))
