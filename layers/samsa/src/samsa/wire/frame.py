"""Frames: a request or a response after its header. The caller reads the size of incoming frames.

A request header is always key, version, correlation id and a classic nullable client id. In
versions with a flexible body, tagged fields follow. A response header is a correlation id, followed
by tagged fields in the same versions, except for ApiVersions: a client must be able to read that
response before it knows which versions we speak.
"""

from __future__ import annotations

import struct
from struct import Struct as Packer
from typing import Any, NamedTuple

from samsa.wire.apis import APIS, Api, ApiKey
from samsa.wire.errors import DecodeError, UnknownApi
from samsa.wire.runtime import skip_tags
from samsa.wire.schema import Segment

__all__ = [
    "DecodeError",
    "KafkaRequest",
    "UnknownApi",
    "read_request",
    "read_response",
    "request_frame",
    "response_frame",
]

_REQUEST_HEADER = Packer(">hhih")
_CORRELATION_ID = Packer(">i")
_CLASSIC_RESPONSE = Packer(">ii")
_FLEXIBLE_RESPONSE = Packer(">iix")
_NO_TAGS = b"\0"
MAX_HEADER_TAGS = 100
"""Kafka defines no tagged fields for headers so far."""


class KafkaRequest(NamedTuple):
    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body: memoryview


def read_request(frame: memoryview) -> KafkaRequest:
    """Read the header. In a version we do not speak, the body begins right after the client id."""
    try:
        key, version, correlation_id, length = _REQUEST_HEADER.unpack_from(frame)
        api = APIS.get(key)
        if api is None:
            raise UnknownApi(f"API key {key} version {version}")
        client_id, at = _client_id(frame, length)
        if version in api.versions and version >= api.request.flexible_since:
            at = _after_tags(frame, at)
    except (struct.error, IndexError, UnicodeDecodeError) as problem:
        raise DecodeError(f"request header: {problem}") from problem
    return KafkaRequest(key, version, correlation_id, client_id, frame[at:])


def _client_id(frame: memoryview, length: int) -> tuple[str | None, int]:
    start = _REQUEST_HEADER.size
    if length < 0:
        return None, start
    end = start + length
    if end > len(frame):
        raise DecodeError("request header: client_id runs past the end")
    return str(frame[start:end], "utf-8"), end


def _after_tags(frame: memoryview, at: int) -> int:
    count = frame[at]
    return skip_tags(frame, at + 1, count, MAX_HEADER_TAGS)[0] if count else at + 1


def response_frame(
    request_api_key: int, version: int, correlation_id: int, segments: list[Segment]
) -> list[Segment]:
    """The segments after a size and a header, which are joined to the first one if it is bytes."""
    header = _FLEXIBLE_RESPONSE if _tagged_header(request_api_key, version) else _CLASSIC_RESPONSE
    size = header.size - _CORRELATION_ID.size + sum(map(len, segments))
    prefix = header.pack(size, correlation_id)
    if segments and isinstance(segments[0], (bytes, bytearray)):
        return [prefix + segments[0], *segments[1:]]
    return [prefix, *segments]


def _tagged_header(key: int, version: int) -> bool:
    return key != ApiKey.API_VERSIONS and APIS[key].response.flexible(version)


def request_frame(
    api: Api, version: int, correlation_id: int, client_id: str | None, row: Any
) -> bytes:
    """A whole request as a client sends it, including its size."""
    name = (client_id or "").encode()
    length = -1 if client_id is None else len(name)
    header = _REQUEST_HEADER.pack(api.key, version, correlation_id, length) + name
    if api.request.flexible(version):
        header += _NO_TAGS
    body = api.request.encode_bytes(version, row)
    return _CORRELATION_ID.pack(len(header) + len(body)) + header + body


def read_response(api: Api, version: int, frame: memoryview) -> tuple[int, Any]:
    """The correlation id and the row of a response; `frame` begins after the size."""
    try:
        (correlation_id,) = _CORRELATION_ID.unpack_from(frame)
        at = _CORRELATION_ID.size
        if _tagged_header(api.key, version):
            at = _after_tags(frame, at)
    except (struct.error, IndexError) as problem:
        raise DecodeError(f"response header: {problem}") from problem
    return correlation_id, api.response.decode(version, frame[at:])
