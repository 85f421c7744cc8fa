"""Lambda's Runtime API, for one process at a time: hand out an event, take the answer.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import json
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

NEXT = "/2018-06-01/runtime/invocation/next"
ARN = "arn:aws:lambda:eu-central-1:123456789012:function:samsa-gateway"


class RuntimeApi:
    def __init__(self) -> None:
        self.events: queue.Queue[Any] = queue.Queue()
        self.said: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.address = ""
        self._numbers = count()

    def invoke(self, event: Any, seconds: float = 30) -> Any:
        """The function's answer; its error is ours."""
        self.events.put(event)
        path, answer = self.said.get(timeout=seconds)
        assert path.endswith("/response"), f"{path}: {answer}"
        return answer

    def headers(self) -> dict[str, str]:
        return {
            "Lambda-Runtime-Aws-Request-Id": f"request-{next(self._numbers)}",
            "Lambda-Runtime-Deadline-Ms": str(int(time.time() * 1000) + 29_000),
            "Lambda-Runtime-Invoked-Function-Arn": ARN,
            "Content-Type": "application/json",
        }


@contextmanager
def runtime_api() -> Iterator[RuntimeApi]:
    api = RuntimeApi()

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            event = api.events.get() if self.path == NEXT else None
            if event is None:
                self.send_error(404)
                return
            self._answer(200, json.dumps(event).encode(), api.headers())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            api.said.put((self.path, json.loads(body)))
            self._answer(202, b'{"status":"OK"}', {})

        def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A function that is killed hangs up."""

    server = Server(("127.0.0.1", 0), Answers)
    api.address = f"127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield api
    finally:
        api.events.put(None)
        server.shutdown()
        server.server_close()
