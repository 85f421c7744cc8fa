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

# Instead of its own folder, whose modules may have the names of clients.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1]))

from clients.client import Client, Record
from clients.legacy import LEGACY
from clients.registry import ADMINS, MAKERS
from support.capture_admin import (
    ADMIN_APIS,
    SECURITY_APIS,
    administer,
    ask_about_logs,
    ask_about_quotas,
    ask_about_replicas,
    ask_about_security,
    say_who_asks,
)
from support.capture_groups import CLIENTS, GROUP_APIS, ask_about_groups, read_in_groups
from support.capture_transactions import (
    TRANSACTION_APIS,
    administer_transactions,
    transact,
)

from samsa.wire.apis import APIS

LARGEST = 4096
BROKERS = (b"broker-", b"AddPartitionsManager-")
"""How the names begin that Apache Kafka gives itself as a client."""
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
    only: frozenset[int] = frozenset(APIS)
    frames: dict[str, bytes] = field(default_factory=dict)

    def keep(self, name: str, key: int, version: int, frame: bytes) -> None:
        if key not in self.only or version not in APIS[key].versions or len(frame) > LARGEST:
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
        name = "broker" if is_of_broker(frame) else self.server.album.client
        self.server.album.keep(f"{name}-{{api}}", key, version, frame)

    def answered(self, frame: bytes) -> None:
        (correlation,) = struct.unpack_from(">i", frame)
        self.server.album.keep("{api}-response", *self.asked.pop(correlation), frame)


def is_of_broker(frame: bytes) -> bool:
    """In transactions a broker asks brokers, itself too, by the address that clients have."""
    (size,) = struct.unpack_from(">h", frame, 8)
    return frame[10 : 10 + max(size, 0)].startswith(BROKERS)


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


def capture_clients(album: Album, bootstrap: str, logs: Path, legacy: bool) -> None:
    for name, make in (LEGACY if legacy else MAKERS).items():
        album.client = name
        client = make(bootstrap, logs / name)
        records = LEGACY_RECORDS if legacy else RECORDS
        exercise(client, f"golden-{name}", records, admin=name in ADMINS)
        client.close()
    if legacy:
        album.frames = {k: v for k, v in album.frames.items() if not k.endswith("-response")}


def capture_groups(album: Album, bootstrap: str, logs: Path) -> None:
    album.only = GROUP_APIS
    for name, kinds in CLIENTS.items():
        album.client = name
        read_in_groups(bootstrap, logs, kinds, f"golden-groups-{name}")
    album.client = "confluent"
    for kind in CLIENTS["confluent"]:
        ask_about_groups(bootstrap, f"golden-{kind}", "golden-groups-confluent")


def capture_admins(album: Album, bootstrap: str, logs: Path) -> None:
    album.only = ADMIN_APIS
    for name in ADMINS:
        album.client = name
        client = MAKERS[name](bootstrap, logs / name)
        administer(client, f"golden-admin-{name}")
        client.close()
    album.client = "kafka-python"
    ask_about_logs(bootstrap, "golden-admin-kafka-python")
    ask_about_replicas(bootstrap, "golden-admin-kafka-python")


def capture_transactions(album: Album, bootstrap: str, logs: Path) -> None:
    album.only = TRANSACTION_APIS

    def begin(name: str) -> None:
        album.client = name

    transact(bootstrap, logs, begin)
    administer_transactions(bootstrap, logs, begin)


def capture_security(album: Album, bootstrap: str, logs: Path) -> None:
    album.only, album.client = SECURITY_APIS, "kafka-python"
    ask_about_security(bootstrap)
    album.client = "java"
    ask_about_quotas(bootstrap, logs / "tools")


def capture_sasl(album: Album, bootstrap: str) -> None:
    album.only, album.client = SECURITY_APIS, "kafka-python"
    say_who_asks(bootstrap)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("broker", help="host:port of a broker that advertises the proxy's port")
    parser.add_argument("port", type=int, help="the proxy's port")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--legacy", action="store_true", help="0.8 clients, requests only")
    parser.add_argument("--admin", action="store_true", help="what administrators say")
    parser.add_argument("--groups", action="store_true", help="what is said in and about groups")
    parser.add_argument("--security", action="store_true", help="ACLs, quotas")
    parser.add_argument("--transactions", action="store_true", help="what transactions need")
    parser.add_argument("--sasl", action="store_true", help="the broker's port has SASL PLAIN")
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    host, _, port = asked.broker.rpartition(":")
    album = Album()
    proxy = Proxy(asked.port, (host, int(port)), album)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    logs = Path(tempfile.mkdtemp())
    bootstrap = f"127.0.0.1:{asked.port}"
    if asked.admin:
        capture_admins(album, bootstrap, logs)
    elif asked.groups:
        capture_groups(album, bootstrap, logs)
    elif asked.transactions:
        capture_transactions(album, bootstrap, logs)
    elif asked.security:
        capture_security(album, bootstrap, logs)
    elif asked.sasl:
        capture_sasl(album, bootstrap)
    else:
        capture_clients(album, bootstrap, logs, asked.legacy)
    album.write(asked.folder)
    proxy.shutdown()


if __name__ == "__main__":
    main()
