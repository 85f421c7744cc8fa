"""The events of an API Gateway WebSocket API with Lambda proxy integration, field by field.

Only the event of $connect has headers and query: a function must store what it needs of them later.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

Event = dict[str, Any]
Pairs = Iterable[tuple[str, str]]

CLOSE_REASONS = {
    1001: "Going away",
    1003: "Binary is not supported",
    1005: "Client-side close frame status not set",
    1006: "Connection closed abnormally",
    1009: "Message too big",
}


@dataclass(frozen=True, slots=True)
class ApiAddress:
    """The API's address; a real one has a domain of its own."""

    domain: str
    stage: str
    api_id: str = "local"
    account: str = "123456789012"


@dataclass(frozen=True, slots=True)
class Party:
    """A connected client, and since when."""

    connection_id: str
    connected_at_ms: int
    source_ip: str
    user_agent: str | None = None
    caller: Mapping[str, str] = field(default_factory=dict)
    """The caller according to its signature; empty if none is required."""


def connect(
    api: ApiAddress, party: Party, request_id: str, now_ms: int, headers: Pairs, query: str
) -> Event:
    event: Event = {
        "headers": dict(_titled(headers)),
        "multiValueHeaders": _many(_titled(headers)),
    }
    parameters = parse_qsl(query, keep_blank_values=True)
    if parameters:
        event["queryStringParameters"] = dict(parameters)
        event["multiValueQueryStringParameters"] = _many(parameters)
    context = _context(api, party, "$connect", "CONNECT", request_id, now_ms)
    return {**event, "requestContext": context, "isBase64Encoded": False}


def message(api: ApiAddress, party: Party, request_id: str, now_ms: int, text: str) -> Event:
    context = _context(api, party, "$default", "MESSAGE", request_id, now_ms)
    context["messageId"] = request_id[:-2] + "M="
    return {"requestContext": context, "body": text, "isBase64Encoded": False}


def disconnect(
    api: ApiAddress, party: Party, request_id: str, now_ms: int, code: int, reason: str
) -> Event:
    headers = [("Host", api.domain), ("x-api-key", ""), ("X-Forwarded-For", ""), ("x-restapi", "")]
    context = _context(api, party, "$disconnect", "DISCONNECT", request_id, now_ms)
    context["disconnectStatusCode"] = code
    context["disconnectReason"] = reason or CLOSE_REASONS.get(code, "")
    return {
        "headers": dict(headers),
        "multiValueHeaders": _many(headers),
        "requestContext": context,
        "isBase64Encoded": False,
    }


def _context(
    api: ApiAddress, party: Party, route: str, kind: str, request_id: str, now_ms: int
) -> dict[str, Any]:
    return {
        "routeKey": route,
        "eventType": kind,
        "extendedRequestId": request_id,
        "requestTime": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now_ms / 1000)),
        "messageDirection": "IN",
        "stage": api.stage,
        "connectedAt": party.connected_at_ms,
        "requestTimeEpoch": now_ms,
        "identity": _identity(party),
        "requestId": request_id,
        "domainName": api.domain,
        "connectionId": party.connection_id,
        "apiId": api.api_id,
    }


def _identity(party: Party) -> dict[str, str]:
    agent = {"userAgent": party.user_agent} if party.user_agent else {}
    return {**agent, "sourceIp": party.source_ip, **party.caller}


def _titled(headers: Pairs) -> list[tuple[str, str]]:
    """HTTP ignores a header's case, but functions see the case that API Gateway writes."""
    return [("-".join(map(_capital, name.split("-"))), value) for name, value in headers]


def _capital(word: str) -> str:
    return "WebSocket" if word.lower() == "websocket" else word[:1].upper() + word[1:]


def _many(pairs: Pairs) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found
