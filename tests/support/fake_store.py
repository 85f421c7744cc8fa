"""A store that answers presigned URLs: PUT of a whole object, GET of a range, nothing else."""

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from support.serving import serving

CONTENT_TYPE = ("content-type", "application/octet-stream")


@dataclass
class FakeStore:
    address: str = ""
    objects: dict[str, bytes] = field(default_factory=dict)
    gets: list[tuple[str, int, int]] = field(default_factory=list)
    puts: list[str] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    """Statuses that the next requests are answered with."""
    delay_s: float = 0.0
    at_once: int = 0
    most_at_once: int = 0
    names: Iterator[int] = field(default_factory=itertools.count)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def new_key(self) -> str:
        return f"spill/{next(self.names)}"

    def url(self, method: str, key: str, what: str = "") -> str:
        """`what`: the range that may be read."""
        return f"http://{self.address}/{key}?for={method}&signature={sign(method, key, what)}"

    def keep(self, data: bytes) -> str:
        """Its key."""
        key = self.new_key()
        self.objects[key] = data
        return key


def sign(method: str, key: str, what: str) -> str:
    return f"{method}-{key}-{what}".encode().hex()


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: FakeStore
    timeout = 20
    disable_nagle_algorithm = True

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        key = self.admitted("PUT")
        if key is None:
            return
        if self.headers[CONTENT_TYPE[0]] != CONTENT_TYPE[1]:
            self.say(403, b"a header differs from the signed one")
            return
        self.store.objects[key] = data
        self.store.puts.append(key)
        self.say(200, b"")

    def do_GET(self) -> None:
        key = self.admitted("GET")
        if key is None:
            return
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        start, end = int(first), int(last) + 1
        self.store.gets.append((key, start, end - start))
        self.say(206, self.store.objects[key][start:end])

    def admitted(self, method: str) -> str | None:
        with self.store.lock:
            self.store.at_once += 1
            self.store.most_at_once = max(self.store.most_at_once, self.store.at_once)
        time.sleep(self.store.delay_s)
        with self.store.lock:
            self.store.at_once -= 1
            failure = self.store.failures.pop(0) if self.store.failures else 0
        parts = urlsplit(self.path)
        key, what = parts.path.removeprefix("/"), self.headers["Range"] or ""
        if failure:
            self.say(failure, b"not now")
        elif parts.query != f"for={method}&signature={sign(method, key, what)}":
            self.say(403, b"the signature does not match")
        else:
            return key
        return None

    def say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def a_store() -> Iterator[FakeStore]:
    store = FakeStore()
    handler = type("Handler", (Answering,), {"store": store})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    store.address = f"127.0.0.1:{server.server_address[1]}"
    with serving(server):
        yield store
