"""A server that remembers what it was told, to stand behind a proxy under test."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.serving import serving


class Upstream(ThreadingHTTPServer):
    """`told` holds (Host, body) of every request; each is answered with its body."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.told: list[tuple[str, bytes]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def answer(self) -> None:
        body = self.body()
        self.server.told.append((self.headers["Host"], body))
        self.send_response_only(200)
        if self.path == "/chunked":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_HEAD = answer  # noqa: N815

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def an_upstream() -> Iterator[Upstream]:
    server = Upstream()
    with serving(server):
        yield server
