"""Records as the page shows them: text, JSON, hex or base64, cut where they are long.

`auto` is JSON where a value is a JSON object or array, else text where it is text, else hex. Bytes
that do not fit the form that was asked for come in the next best one. With `auto`, what follows a
schema of the registry is shown as the schema says.
"""

import base64
import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from samsa.http_api.content import Encoding
from samsa.http_api.content import shown as encoded
from samsa.http_api.kafka_client import KafkaClient
from samsa.records.record import Record

from .decoding import SchemaDecoder, decoder_of

MOST_BYTES = 64 * 1024
"""Of a key, of a value and of a header that are shown. The rest is cut."""
MOST_HEADERS = 100


class Form(StrEnum):
    AUTO = "auto"
    JSON = "json"
    TEXT = "text"
    HEX = "hex"
    BASE64 = "base64"


class Shower(NamedTuple):
    """How the records of one request are shown."""

    form: Form = Form.AUTO
    decoder: SchemaDecoder | None = None

    async def knowing(self, records: Iterable[Record], kafka: KafkaClient) -> "Shower":
        """The same, with the schemas that these records name."""
        if self.form is not Form.AUTO:
            return self
        return self._replace(decoder=await decoder_of(records, kafka))

    def record(self, partition: int, record: Record, is_transactional: bool) -> dict[str, Any]:
        headers = record.headers[:MOST_HEADERS]
        parts = [record.key, record.value, *(value for _, value in headers)]
        return {
            "partition": partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": self._part(record.key),
            "value": self._part(record.value),
            "headers": [{"name": _name(n), "value": self._part(v)} for n, v in headers],
            "size": size_of(record),
            "transactional": is_transactional,
            "truncated": len(headers) < len(record.headers) or any(map(_is_long, parts)),
        }

    def _part(self, data: bytes | None) -> dict[str, Any] | None:
        if data is None:
            return None
        if self.decoder is not None and not _is_long(data):
            known = self.decoder.decoded(data)
            if known is not None:
                return known
        return shown(data, self.form)


def shown(data: bytes, form: Form) -> dict[str, Any]:
    if form in (Form.AUTO, Form.JSON) and not _is_long(data) and _looks_like_json(data, form):
        found = encoded(data, Encoding.JSON)
        if found is not None and "json" in found:
            return found
    if form is Form.HEX:
        return {"hex": data[:MOST_BYTES].hex()}
    if form is Form.BASE64:
        return {"base64": base64.b64encode(data[:MOST_BYTES]).decode()}
    text = encoded(_cut(data), Encoding.TEXT)
    if text is not None and "text" in text:
        return text
    return {"hex": data[:MOST_BYTES].hex()}


def size_of(record: Record) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers


def shown_size(record: Record) -> int:
    """Bytes of it that are shown."""
    values = [record.key, record.value, *(value for _, value in record.headers[:MOST_HEADERS])]
    names = sum(min(len(name), MOST_BYTES) for name, _ in record.headers[:MOST_HEADERS])
    return names + sum(min(len(value or b""), MOST_BYTES) for value in values)


def dumped(told: Any) -> bytes:
    """In ASCII: text from records may be half of a surrogate pair, which UTF-8 cannot have."""
    return json.dumps(told, separators=(",", ":")).encode()


def _is_long(data: bytes | None) -> bool:
    return data is not None and len(data) > MOST_BYTES


def _looks_like_json(data: bytes, form: Form) -> bool:
    return form is Form.JSON or data[:1] in (b"{", b"[")


def _name(name: str) -> str:
    return name if len(name) <= MOST_BYTES else name[:MOST_BYTES] + "…"


def _cut(data: bytes) -> bytes:
    """Not within a character of UTF-8."""
    if not _is_long(data):
        return data
    end = MOST_BYTES
    while end > MOST_BYTES - 4 and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]
