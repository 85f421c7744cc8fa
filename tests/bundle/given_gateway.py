"""Gateways as Lambda would run them, and a shim's side of the talk with them."""

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from support.serving import serving

from samsa.aws.presign import byte_range
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_response, request_frame
from samsa_websocket import envelope
from samsa_websocket.gateway import Gateway, GatewaySettings
from samsa_websocket.shim.gather import plan, shifted

EVENTS = Path(__file__).parent.parent / "events"
SIZE = 4
LISTEN = ("127.0.0.1", 19092)
words = count()


class TurnedClock:
    """The machine's clock, until it is turned on by hand."""

    def __init__(self) -> None:
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead_ms


class Pushes:
    """What @connections was asked to push. Who is in `gone` gets a 410."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.sent: list[tuple[str, envelope.Message]] = []
        self.gone: set[str] = set()

    def names(self, connection_id: str) -> set[str]:
        told = [m for to, m in self.sent if to == connection_id and isinstance(m, envelope.Wake)]
        return {name for message in told for name in message.names}


@contextmanager
def serving_pushes() -> Iterator[Pushes]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            to = unquote(self.path.rpartition("/@connections/")[2])
            if to not in pushes.gone:
                pushes.sent.append((to, envelope.decode(body)))
            self.send_response(410 if to in pushes.gone else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    pushes = Pushes(f"http://127.0.0.1:{server.server_address[1]}/dev")
    with serving(server):
        yield pushes


class Cluster:
    """One table and one bucket, and the environments that functions run in."""

    def __init__(self, environment: dict[str, str], pushes: Pushes) -> None:
        self.environment = {**environment, "SAMSA_CONNECTIONS": pushes.url}
        self.pushes = pushes
        self.clock = TurnedClock()
        self.first = self.another()

    def another(self) -> Gateway:
        word = next(words)
        fresh = count()
        return Gateway(
            GatewaySettings.of(self.environment), self.clock, lambda: f"w{word}x{next(fresh):x}"
        )

    def client(self, gateway: Gateway | None = None, principal: str | None = None) -> "Client":
        client = Client(gateway or self.first, principal)
        assert client.connect()["statusCode"] == 200
        return client


class Client:
    """A shim's connection: what it sends, and what it makes of the answers."""

    def __init__(self, gateway: Gateway, principal: str | None = None) -> None:
        self.gateway = gateway
        self.principal = principal
        """The ARN that signs its handshake: what only the event of $connect is sure to say."""
        self.source = "203.0.113.7"
        """The address that API Gateway sees."""
        self.connection_id = f"conn{next(words)}Fv="
        self.connected_at = 1794854776000 + next(words)
        self.seq = 0
        self.client_id: str | None = "bundle"

    def event(self, name: str, **more: Any) -> dict[str, Any]:
        event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
        told = event["requestContext"]
        told["connectionId"], told["connectedAt"] = self.connection_id, self.connected_at
        told["identity"]["sourceIp"] = self.source
        return {**event, **more}

    def connect(self, **query: str) -> dict[str, Any]:
        event = self.event("connect")
        event["queryStringParameters"] |= {"listen": f"{LISTEN[0]}:{LISTEN[1]}", **query}
        event["requestContext"]["identity"]["userArn"] = self.principal
        return self.gateway.handle(event)

    def disconnect(self) -> dict[str, Any]:
        return self.gateway.handle(self.event("disconnect"))

    def say(self, message: envelope.Message | str, context: Any = None) -> envelope.Message:
        text = message if isinstance(message, str) else envelope.encode(message)
        answer = self.gateway.handle(self.event("default", body=text), context)
        assert answer["statusCode"] == 200
        return envelope.decode(answer["body"])

    def send(
        self,
        key: ApiKey,
        version: int,
        row: Any,
        again: bool = False,
        waited: int = 0,
        lingers: bool = False,
    ) -> envelope.Message:
        """The same request once more, or the next one."""
        self.seq += not again
        frame = frame_of(key, version, row, self.client_id)
        return self.say(envelope.Request(self.seq, frame, waited, lingers=lingers))

    def ask(self, key: ApiKey, version: int, row: Any, **more: Any) -> Any:
        """The row that answers it."""
        answer = self.send(key, version, row, **more)
        assert isinstance(answer, envelope.Reply | envelope.Gather), answer
        assert answer.seq == self.seq
        return row_of(key, version, answer)

    def upload(self, key: ApiKey, version: int, row: Any) -> Any:
        frame = frame_of(key, version, row)
        digest = sha256(frame).hexdigest()
        self.seq += 1
        ticket = self.say(envelope.Upload(self.seq, len(frame), digest))
        assert isinstance(ticket, envelope.Ticket), ticket
        put(ticket, frame)
        answer = self.say(envelope.Reference(self.seq, ticket.key, len(frame), digest))
        return row_of(key, version, answer)


def frame_of(key: ApiKey, version: int, row: Any, client_id: str | None = "bundle") -> bytes:
    return request_frame(APIS[key], version, 7, client_id, row)[SIZE:]


def row_of(key: ApiKey, version: int, answer: envelope.Message, number: int = 7) -> Any:
    assert isinstance(answer, envelope.Reply | envelope.Gather | envelope.ParkedReply), answer
    frame = gathered(answer) if isinstance(answer, envelope.Gather) else answer.frame
    numbered, row = read_response(APIS[key], version, memoryview(frame))
    assert numbered == number
    return row


def gathered(answer: envelope.Gather) -> bytes:
    return b"".join(bytes(shifted(get(p.source), p.shift)) for p in plan(answer).pieces)


def get(piece: bytes | envelope.UrlRange, asked: str | None = None) -> bytes:
    """`asked`: another range than the piece's."""
    if isinstance(piece, bytes):
        return piece
    headers = {"Range": asked or byte_range(piece.start, piece.length)}
    request = urllib.request.Request(piece.url, headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return bytes(answer.read())


def put(ticket: envelope.Ticket, frame: bytes) -> None:
    request = urllib.request.Request(ticket.url, frame, dict(ticket.headers), method="PUT")
    urllib.request.urlopen(request, timeout=10).close()
