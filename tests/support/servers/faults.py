"""A proxy that does to requests what networks and clouds do to them."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from support.serving import serving


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


Forward = Callable[[Request], Reply]
Fault = Callable[[Request, Forward], Reply | None]
"""None: the connection ends without an answer."""


def lose_the_answer(request: Request, forward: Forward) -> None:
    forward(request)


def stay_silent(request: Request, forward: Forward) -> None:
    threading.Event().wait(2)


def answer(status: int, body: bytes = b"", **headers: str) -> Fault:
    reply = Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})
    return lambda request, forward: reply


def dynamodb_error(code: str, status: int = 400) -> Fault:
    kind = f"com.amazonaws.dynamodb.v20120810#{code}"
    body = json.dumps({"__type": kind, "message": "no"}).encode()
    return answer(status, body, content_type="application/x-amz-json-1.0")


def leave_the_batch(request: Request, forward: Forward) -> Reply:
    left = json.loads(request.body)["RequestItems"]
    return Reply(200, json.dumps({"UnprocessedItems": left}).encode())


class FaultyProxy:
    """Requests meet `faults` in order, one each; later ones pass through."""

    def __init__(self, url: str, upstream: str) -> None:
        self.url = url
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self._upstream = urlsplit(upstream).netloc

    def handle(self, request: Request) -> Reply | None:
        self.requests.append(request)
        fault = self.faults.pop(0) if self.faults else None
        return fault(request, self.forward) if fault else self.forward(request)

    def forward(self, request: Request) -> Reply:
        upstream = http.client.HTTPConnection(self._upstream)
        try:
            upstream.request(request.method, request.path, request.body, request.headers)
            reply = upstream.getresponse()
            return Reply(reply.status, reply.read(), dict(reply.getheaders()))
        finally:
            upstream.close()


@contextmanager
def faulty_proxy(upstream: str) -> Iterator[FaultyProxy]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = FaultyProxy(f"http://127.0.0.1:{server.server_address[1]}", upstream)
    server.proxy = proxy  # type: ignore[attr-defined]
    with serving(server):
        yield proxy


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, self.path, dict(self.headers.items()), body)
        reply = self.server.proxy.handle(request)  # type: ignore[attr-defined]
        if reply is None:
            self.close_connection = True
            return
        self.send_reply(reply)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815

    def send_reply(self, reply: Reply) -> None:
        headers = {name.lower(): value for name, value in reply.headers.items()}
        if "transfer-encoding" in headers or "content-length" not in headers:
            headers.pop("transfer-encoding", None)
            headers["content-length"] = str(len(reply.body))
        self.send_response_only(reply.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)
        if int(headers["content-length"]) > len(reply.body):
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass
