"""A relay in front of a broker that notes which requests, in which versions, its clients send.

The broker must give its clients the relay's address instead of its own (`--advertise`).
"""

import socket
import socketserver
import struct
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from support.broker import Broker
from support.serving import serving

Watch = Callable[[bytes], None]


class RequestLog(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False  # idle clients stay connected

    def __init__(self, port: int, broker: Broker) -> None:
        super().__init__(("127.0.0.1", port), _Connection)
        self.broker = broker
        self.bootstrap = f"127.0.0.1:{port}"
        self.versions: defaultdict[int, set[int]] = defaultdict(set)
        """By API key."""

    def note(self, frame: bytes) -> None:
        key, version = struct.unpack_from(">hh", frame)
        self.versions[key].add(version)


@contextmanager
def a_request_log(port: int, broker: Broker) -> Iterator[RequestLog]:
    log = RequestLog(port, broker)
    with serving(log):
        yield log


class _Connection(socketserver.BaseRequestHandler):
    server: RequestLog

    def handle(self) -> None:
        with socket.create_connection(self.server.broker.address) as broker, suppress(OSError):
            back = (broker, self.request, lambda _: None)
            threading.Thread(target=_relay, args=back, daemon=True).start()
            _relay(self.request, broker, self.server.note)


def _relay(source: socket.socket, target: socket.socket, watch: Watch) -> None:
    with suppress(OSError), source.makefile("rb") as stream:
        while len(head := stream.read(4)) == 4:
            frame = stream.read(struct.unpack(">i", head)[0])
            watch(frame)
            target.sendall(head + frame)
    # The other direction may have ended first.
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
