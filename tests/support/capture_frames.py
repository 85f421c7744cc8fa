"""Records what real clients say to a broker, as the files of tests/property/golden.

A TCP proxy stands between them and copies frames as they pass. The broker must give its clients
the address of the proxy instead of its own. Run by hand; see the README beside the files.
"""

import argparse
import socket
import socketserver
import struct
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from clients.client import Client, Record
from clients.legacy import LEGACY
from clients.registry import ADMINS, MAKERS

from samsa.wire.apis import APIS

LARGEST = 4096
Watch = Callable[[bytes], None]
RECORDS = [
    Record(b"key", b"value " * 40, (("trace", b"one"), ("trace", b"two"))),
    Record(None, b"no key " * 40),
    Record(b"tombstone", None),
]
# Message sets know neither headers nor, with kafka-python, values that are absent.
LEGACY_RECORDS = [replace(record, headers=()) for record in RECORDS[:2]]


@dataclass
class Album:
    """Keeps the longest small frame of each kind: the shortest ones are often empty."""

    client: str = ""
    frames: dict[str, bytes] = field(default_factory=dict)

    def keep(self, name: str, key: int, version: int, frame: bytes) -> None:
        if key not in APIS or version not in APIS[key].versions or len(frame) > LARGEST:
            return
        api = APIS[key].key.name.lower().replace("_", "-")
        name = name.format(api=f"{api}-v{version}")
        self.frames[name] = max(frame, self.frames.get(name, b""), key=len)

    def write(self, folder: Path) -> None:
        for name, frame in self.frames.items():
            (folder / f"{name}.bin").write_bytes(frame)


class Proxy(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int, broker: tuple[str, int], album: Album) -> None:
        super().__init__(("127.0.0.1", port), Connection)
        self.broker = broker
        self.album = album


class Connection(socketserver.BaseRequestHandler):
    server: Proxy

    def handle(self) -> None:
        self.asked: dict[int, tuple[int, int]] = {}
        with socket.create_connection(self.server.broker) as broker:
            back = (broker, self.request, self.answered)
            threading.Thread(target=relay, args=back, daemon=True).start()
            relay(self.request, broker, self.sent)

    def sent(self, frame: bytes) -> None:
        key, version, correlation = struct.unpack_from(">hhi", frame)
        self.asked[correlation] = key, version
        self.server.album.keep(f"{self.server.album.client}-{{api}}", key, version, frame)

    def answered(self, frame: bytes) -> None:
        (correlation,) = struct.unpack_from(">i", frame)
        self.server.album.keep("{api}-response", *self.asked.pop(correlation), frame)


def relay(source: socket.socket, target: socket.socket, watch: Watch) -> None:
    stream = source.makefile("rb")
    while len(head := stream.read(4)) == 4:
        frame = stream.read(struct.unpack(">i", head)[0])
        watch(frame)
        target.sendall(head + frame)
    # The other direction may have ended first.
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


def exercise(client: Client, topic: str, records: list[Record], *, admin: bool) -> None:
    if admin:
        client.create_topic(f"{topic}-made", 3, {"retention.ms": "-1"})
        client.delete_topic(f"{topic}-made")
        client.describe()
    for codec in ("none", "gzip"):
        client.produce(topic, records, codec, partition=0)
    client.consume(topic, "earliest", len(records), partition=0)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("broker", help="host:port of a broker that advertises the proxy's port")
    parser.add_argument("port", type=int, help="the proxy's port")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--legacy", action="store_true", help="0.8 clients, requests only")
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    host, _, port = asked.broker.rpartition(":")
    album = Album()
    proxy = Proxy(asked.port, (host, int(port)), album)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    logs = Path(tempfile.mkdtemp())
    for name, make in (LEGACY if asked.legacy else MAKERS).items():
        album.client = name
        client = make(f"127.0.0.1:{asked.port}", logs / name)
        records = LEGACY_RECORDS if asked.legacy else RECORDS
        exercise(client, f"golden-{name}", records, admin=name in ADMINS)
        client.close()
    if asked.legacy:
        album.frames = {k: v for k, v in album.frames.items() if not k.endswith("-response")}
    album.write(asked.folder)
    proxy.shutdown()


if __name__ == "__main__":
    main()
