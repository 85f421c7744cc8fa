"""@connections: functions push to clients here. boto3's apigatewaymanagementapi calls this API."""

import time
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from .authoriser import SignatureRefused
from .connection import ClientGone, ClientSocket, TooMuch
from .gateway import LocalGateway


class Management:
    def __init__(self, gateway: LocalGateway) -> None:
        self._gateway = gateway

    async def serve(self, request: Request) -> Response:
        gateway = self._gateway
        body = await request.body()
        try:
            gateway.authoriser.caller(
                request.method,
                request.scope["raw_path"].decode("ascii"),
                request.url.query,
                request.headers.items(),
                body,
                time.time(),
            )
        except SignatureRefused as refused:
            return _error(403, "ForbiddenException", str(refused))
        if not gateway.requests.take(time.time()):
            gateway.stats.throttled += 1
            return _error(429, "LimitExceededException", "Rate exceeded")
        connection = gateway.connections.get(request.path_params["connection_id"])
        if connection is None or not connection.open:
            return _error(410, "GoneException")
        if request.method == "GET":
            return _describe(connection)
        if request.method == "DELETE":
            await connection.close(1000, "Connection Closed Normally")
            return Response(status_code=204)
        return await self._post(connection, body)

    async def _post(self, connection: ClientSocket, body: bytes) -> Response:
        if len(body) > self._gateway.limits.message_bytes:
            return _error(413, "PayloadTooLargeException", "Message too long")
        text = body.decode(errors="replace")
        try:
            await connection.send(text, time.monotonic())
        except ClientGone:
            return _error(410, "GoneException")
        except TooMuch:
            return _error(429, "LimitExceededException", "The client does not read")
        self._gateway.stats.pushed += 1
        self._gateway.observer.pushed(text)
        return Response(status_code=200)


def _describe(connection: ClientSocket) -> Response:
    party = connection.party
    since_ms = party.connected_at_ms
    active_ms = since_ms + (connection.last_active - connection.born) * 1000
    return JSONResponse(
        {
            "connectedAt": _iso(since_ms),
            "lastActiveAt": _iso(active_ms),
            "identity": {"sourceIp": party.source_ip, "userAgent": party.user_agent or ""},
        }
    )


def _iso(ms: float) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")


def _error(status: int, name: str, said: str = "") -> Response:
    body = {"message": said} if said else {}
    return JSONResponse(body, status, headers={"x-amzn-ErrorType": name})
