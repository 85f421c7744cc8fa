"""What is refused before any route sees it: bodies that are too large, and strangers' names.

A browser lets any page on the web send requests to this machine. It does not let it read answers,
nor send JSON or DELETE without asking first, which nobody here answers with yes; but a page whose
name is made to point at 127.0.0.1 may do all that. Such a request comes with that name as its host.
"""

from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .problems import answer, of_http

MAX_BODY = 16 * 1024 * 1024


class Bounded:
    def __init__(self, app: ASGIApp, most: int = MAX_BODY) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > self._most:
            await self._refusal()(scope, receive, send)
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._most:
                raise HTTPException(413, self._why())
            return message

        await self._app(scope, counted, send)

    def _refusal(self) -> ASGIApp:
        problem = of_http(413, "Content too large", self._why(), "Send it in several requests.")
        return answer(problem)

    def _why(self) -> str:
        return f"a request has at most {self._most} bytes"


class OnlyFromHere:
    """For a server on loopback: who asks must know it by its address, or as localhost."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = Headers(scope=scope).get("host", "") if scope["type"] == "http" else "localhost"
        if is_loopback(_name(host)):
            await self._app(scope, receive, send)
            return
        problem = of_http(
            421, "Misdirected request", f"{host!r} is not this machine",
            "Ask for http://127.0.0.1 or http://localhost, or start samsa up with --http ADDRESS.",
        )  # fmt: skip
        await answer(problem)(scope, receive, send)


def _name(host: str) -> str:
    """Without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(host: str) -> bool:
    if host.lower() in ("localhost", "localhost."):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
