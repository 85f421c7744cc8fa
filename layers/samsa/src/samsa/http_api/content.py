"""Keys, values and headers: bytes in Kafka, and in JSON text, JSON or base64.

What is read can be written back unchanged: `{"text": …}`, `{"json": …}`, `{"base64": …}`, or null.
Values with a schema of the registry are `{"avro": …}`, `{"jsonschema": …}` and `{"protobuf": …}`
(`by_schema.py`). A plain string is short for text. Reading never loses anything: bytes that do not
fit the encoding that was asked for come in the next best one, and base64 fits all bytes.
"""

import base64
import json
import re
from enum import StrEnum
from typing import Any, TypeAlias

from pydantic import Field, field_validator

from samsa.schemas.contents import SchemaKind

from .parameters import INT32_MAX, StrictBody, examples

BASE64 = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
MARGIN = 50
"""Levels of JSON that an answer may put around a value, or a request around its own."""
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""In text they would take six characters each; base64 takes one and a third."""


class Encoding(StrEnum):
    """How to show bytes: `auto` is text where they are text, else base64; `schema` is as the schema
    says that they name, else as `auto`."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"
    BASE64 = "base64"
    SCHEMA = "schema"


class Text(StrictBody):
    """UTF-8."""

    model_config = examples({"text": "hello"})
    text: str

    def encoded(self) -> bytes:
        return self.text.encode()


class Json(StrictBody):
    """Any JSON value, stored without spaces."""

    model_config = examples({"json": {"total": 12}})
    value: Any = Field(alias="json")

    @field_validator("value")
    @classmethod
    def _can_be_told(cls, value: Any) -> Any:
        _dumped(value)
        return value

    def encoded(self) -> bytes:
        """Escaped where it is not ASCII: half of a surrogate pair has no other form."""
        return json.dumps(self.value, separators=(",", ":")).encode()


class Base64(StrictBody):
    """Any bytes, in base64."""

    model_config = examples({"base64": "aGVsbG8="})
    base64: str = Field(pattern=BASE64)

    def encoded(self) -> bytes:
        return base64.b64decode(self.base64)


class BySchema(StrictBody):
    schema_id: int | None = Field(
        default=None,
        ge=1,
        le=INT32_MAX,
        description="The latest of the subject TOPIC-key or TOPIC-value, if left out",
    )
    value: Any


class Avro(BySchema):
    """JSON as Avro defines it. The name of a union's type may be left out."""

    value: Any = Field(alias="avro")


class JsonSchema(BySchema):
    """Any JSON value that fits a JSON Schema."""

    value: Any = Field(alias="jsonschema")


class Protobuf(BySchema):
    """JSON as Protobuf defines it, of the schema's first message."""

    value: Any = Field(alias="protobuf")


KINDS: dict[SchemaKind, tuple[type[BySchema], str]] = {
    SchemaKind.AVRO: (Avro, "avro"),
    SchemaKind.JSON: (JsonSchema, "jsonschema"),
    SchemaKind.PROTOBUF: (Protobuf, "protobuf"),
}
"""With the name of the field that has the value."""
Plain: TypeAlias = str | Text | Json | Base64
Content: TypeAlias = Plain | Avro | JsonSchema | Protobuf
Shown: TypeAlias = Text | Json | Base64 | Avro | JsonSchema | Protobuf


def encoded(content: Plain | None) -> bytes | None:
    if content is None:
        return None
    return content.encode() if isinstance(content, str) else content.encoded()


def shown(data: bytes | None, encoding: Encoding) -> dict[str, Any] | None:
    if data is None:
        return None
    if encoding is Encoding.JSON and (found := _parsed(data)):
        return found
    text = None if encoding is Encoding.BASE64 else _text(data)
    return {"base64": base64.b64encode(data).decode()} if text is None else {"text": text}


def _text(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if _UNPRINTABLE.search(text) else text


def _parsed(data: bytes) -> dict[str, Any] | None:
    """None if it is no JSON, or cannot be written again: nested too deeply, or NaN or infinity."""
    try:
        value = json.loads(data)
        raise_unless_tellable(value)
    except (ValueError, RecursionError):
        return None
    return {"json": value}


def raise_unless_tellable(value: Any) -> None:
    """Raises ValueError, RecursionError for what JSON cannot tell, or UTF-8 cannot."""
    _dumped(value).encode()


def _dumped(value: Any) -> str:
    """Raises ValueError for a number that JSON does not have, or if nested too deeply."""
    wrapped = value
    for _ in range(MARGIN):
        wrapped = [wrapped]
    try:
        return json.dumps(wrapped, allow_nan=False, ensure_ascii=False)
    except RecursionError:
        raise ValueError("this JSON is nested too deeply") from None
