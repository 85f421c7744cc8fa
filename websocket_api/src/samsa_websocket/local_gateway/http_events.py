"""The event of an API Gateway HTTP API (payload format 2.0), and the function's answer to it."""

import base64
import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from .events import ApiAddress, Event


def event(
    api: ApiAddress,
    request: Request,
    body: bytes,
    request_id: str,
    now_ms: int,
    caller: Mapping[str, str],
) -> Event:
    path = request.scope["raw_path"].decode("ascii")
    context: dict[str, Any] = {
        "accountId": api.account,
        "apiId": api.api_id,
        "domainName": api.domain,
        "domainPrefix": api.domain.partition(".")[0],
        "http": {
            "method": request.method,
            "path": path,
            "protocol": f"HTTP/{request.scope['http_version']}",
            "sourceIp": request.client.host if request.client else "",
            "userAgent": request.headers.get("user-agent", ""),
        },
        "requestId": request_id,
        "routeKey": "$default",
        "stage": "$default",
        "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now_ms / 1000)),
        "timeEpoch": now_ms,
    }
    if caller:
        context["authorizer"] = {"iam": dict(caller)}
    made: Event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": request.url.query,
        "headers": _joined(request.headers.items(), but="cookie"),
        "requestContext": context,
        "isBase64Encoded": False,
    }
    if cookies := request.headers.getlist("cookie"):
        made["cookies"] = [part.strip() for line in cookies for part in line.split(";")]
    if request.url.query:
        made["queryStringParameters"] = _joined(request.query_params.multi_items())
    if body:
        made["body"], made["isBase64Encoded"] = _text(body)
    return made


def response(answer: Mapping[str, Any]) -> Response:
    body = answer.get("body") or ""
    content = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode()
    reply = Response(content, answer["statusCode"], dict(answer.get("headers") or {}))
    for cookie in answer.get("cookies") or ():
        reply.headers.append("set-cookie", cookie)
    return reply


def _joined(pairs: Any, but: str = "") -> dict[str, str]:
    """API Gateway joins several values of one name with commas."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if name != but:
            found[name] = f"{found[name]},{value}" if name in found else value
    return found


def _text(body: bytes) -> tuple[str, bool]:
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), True
