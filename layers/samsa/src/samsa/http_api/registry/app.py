"""The registry as an ASGI application."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from samsa.http_api.kafka_client import InProcessClient
from samsa.http_api.sessions import SESSION

from .answers import answer, refusal, refusal_of
from .calls import Call
from .refusals import RegistryRefusal
from .routes import find


async def registry(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope, receive)
    response = await _answered(request)
    await response(scope, receive, send)


async def _answered(request: Request) -> Response:
    try:
        found = await _found(request)
    except Exception as error:
        return refusal(refusal_of(error), request)
    return found


async def _found(request: Request) -> Response:
    scope = request.scope
    raw = scope.get("raw_path")
    found = find(raw.partition(b"?")[0].decode("latin-1") if raw else scope["path"])
    if found is None:
        raise RegistryRefusal(404, "HTTP 404 Not Found")
    respond = found.answers.get("GET" if request.method == "HEAD" else request.method)
    if respond is None:
        raise RegistryRefusal(405, "HTTP 405 Method Not Allowed")
    kafka = InProcessClient(scope["app"].state.served, scope[SESSION])
    value = await respond(Call(request, found.path, kafka))
    return value if isinstance(value, Response) else answer(value, request)
