"""Answers of the registry, and how exceptions become refusals."""

import json
import logging
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from samsa.ports import Missing, Unavailable, UnknownPartition
from samsa.runtime.logs import event
from samsa.schemas.contents import Content, SchemaKind
from samsa.schemas.errors import BadSchema, NotInstalled
from samsa.topics.configs import Refused

from .calls import Call
from .refusals import RegistryRefusal, invalid_schema, store_failed

log = logging.getLogger("samsa.schemas")
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
JSON = "application/json"


def answer(value: Any, request: Request, status: int = 200) -> Response:
    accepted = request.headers.get("accept", "")
    is_plain = JSON in accepted and "schemaregistry" not in accepted
    kind = JSON if is_plain else MEDIA_TYPE
    return Response(json.dumps(value, separators=(",", ":")), status, media_type=kind)


def refusal(error: RegistryRefusal, request: Request) -> Response:
    told = {"error_code": error.code, "message": str(error)}
    return answer(told, request, error.status)


def refusal_of(error: Exception) -> RegistryRefusal:
    """What a client is told of an exception that a call has raised."""
    if isinstance(error, RegistryRefusal):
        return error
    if isinstance(error, BadSchema):
        return invalid_schema(str(error))
    if isinstance(error, NotInstalled):
        return RegistryRefusal(50002, str(error))
    if isinstance(error, Unavailable | Missing | UnknownPartition | TimeoutError | Refused):
        return store_failed(str(error) or "it is slow")
    event(log, logging.ERROR, "a request to the schema registry failed", why=repr(error))
    return RegistryRefusal(50003, f"Internal server error: {type(error).__name__}")


async def text_of(call: Call, content: Content) -> str:
    """As it was registered. Some clients ask for Protobuf's serialized descriptor in base64."""
    if content.kind is SchemaKind.PROTOBUF and call.text("format") == "serialized":
        parsed = await call.registry.schemas.parsed(content, call.registry.log.state)
        serialized = getattr(parsed, "serialized")  # noqa: B009 - only Protobuf's have it
        return str(await call.registry.schemas.in_thread(serialized))
    return content.text
