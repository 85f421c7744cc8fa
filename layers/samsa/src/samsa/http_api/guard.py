"""Refuses requests before any route sees them: bodies that are too large or of a wrong type, and
requests from pages of other sites (`http_api/origins.py`).

The bodies of all requests together have a limit as well, counted as they arrive. A client whose
body does not fit is told to try again.
"""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samsa.http_api.origins import MISDIRECTED

from .problems import UNAVAILABLE, answer, of_http

MAX_BODY = 16 * 1024 * 1024
MAX_BODIES = 4 * MAX_BODY
CLOSE = {"Connection": "close"}
"""The rest of the body is not read."""
WITHOUT_EFFECT = ("GET", "HEAD", "OPTIONS")
BINARY = "application/octet-stream"


class RequestGuard:
    def __init__(self, app: ASGIApp, most: int = MAX_BODY, together: int = MAX_BODIES) -> None:
        self._app = app
        self._most = most
        self._left = together

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._too_large(headers) or _wrong_type(scope["method"], headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            size = len(message.get("body", b""))
            taken += size
            self._left -= size
            if taken > self._most:
                raise HTTPException(413, self._why(), CLOSE)
            if self._left < 0:
                raise HTTPException(UNAVAILABLE, "others are sending much at the moment", CLOSE)
            return message

        try:
            await self._app(scope, counted, send)
        finally:
            self._left += taken

    def _too_large(self, headers: Headers) -> ASGIApp | None:
        declared = headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > self._most:
            next_step = "Send it in several requests."
            return answer(of_http(413, "Content too large", self._why(), next_step), CLOSE)
        return None

    def _why(self) -> str:
        return f"a request has at most {self._most} bytes"


def _wrong_type(method: str, headers: Headers) -> ASGIApp | None:
    """A browser sends JSON to another site only if that site allows it (CORS preflight); some other
    types it sends without asking."""
    if method in WITHOUT_EFFECT or not _has_body(headers):
        return None
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = given == "application/json" or (
        given.startswith("application/") and given.endswith("+json")
    )
    if is_json or given == BINARY:
        return None
    why = f"the body is {given or 'of no type'}"
    next_step = f"Say Content-Type: application/json, or {BINARY} for a record as it is."
    return answer(of_http(415, "Unsupported media type", why, next_step), CLOSE)


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def stranger(status: int, why: str) -> ASGIApp:
    """The answer to a request of another site's page."""
    if status == MISDIRECTED:
        title = "Misdirected request"
        next_step = "Ask by address or as localhost, or start samsa up with --http-name NAME."
    else:
        title, next_step = "Forbidden", "Open the page from this machine, or use another program."
    return answer(of_http(status, title, why, next_step))
