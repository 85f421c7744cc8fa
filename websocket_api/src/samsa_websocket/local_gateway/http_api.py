"""An API Gateway HTTP API: every path to one function."""

import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from . import http_events
from .authoriser import Authoriser, SignatureRefused
from .events import ApiAddress
from .identifiers import identifier
from .integration import Integration, IntegrationFailed


class HttpApi:
    def __init__(self, api: ApiAddress, integration: Integration, authoriser: Authoriser) -> None:
        self._api = api
        self._integration = integration
        self._authoriser = authoriser

    async def serve(self, request: Request) -> Response:
        body = await request.body()
        now = time.time()
        path = request.scope["raw_path"].decode("ascii")
        headers = request.headers.items()
        try:
            caller = self._authoriser.caller(
                request.method, path, request.url.query, headers, body, now
            )
            asked = http_events.event(
                self._api, request, body, identifier(), int(now * 1000), caller
            )
            return http_events.response(await self._integration.ask(asked))
        except SignatureRefused as refused:
            return JSONResponse({"message": str(refused)}, 403)
        except IntegrationFailed as failed:
            return JSONResponse({"message": str(failed)}, failed.status)
