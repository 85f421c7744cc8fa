"""Questions that no client answers, asked by hand: three requests, spelled out byte by byte."""

import socket
import struct
from collections.abc import Iterator

from clients.client import CODECS
from support.broker import Broker

FETCH, LIST_OFFSETS, API_VERSIONS = 1, 2, 18
ATTRIBUTES_AT = 21  # in a record batch


def served_versions(broker: Broker) -> dict[int, range]:
    """What the broker says it serves, by API key."""
    body = ask(broker, API_VERSIONS, 0, b"")
    rows = struct.iter_unpack(">hhh", body[6:])
    return {key: range(lowest, highest + 1) for key, lowest, highest in rows}


def stored_codecs(broker: Broker, topic: str) -> set[str]:
    """The codec of every batch of partition 0, as a Fetch v4 shows it."""
    name = string(topic)
    limits = struct.pack(">iiiib", -1, 1000, 1, 1 << 20, 0)
    partition = struct.pack(">iiqi", 1, 0, 0, 1 << 20)
    body = ask(broker, FETCH, 4, limits + struct.pack(">i", 1) + name + partition)
    # Throttle time, one topic and its name, one partition with five fields and no aborted ones.
    batches = body[4 + 4 + len(name) + 4 + 4 + 2 + 8 + 8 :]
    aborted, size = struct.unpack_from(">ii", batches)
    assert aborted <= 0
    return {CODECS[attributes & 7] for attributes in attributes_of(batches[8 : 8 + size])}


def is_ready(broker: Broker, topic: str, partitions: int) -> bool:
    """Whether every partition can tell its end, as a ListOffsets v1 asks for it."""
    name = string(topic)
    asked = b"".join(struct.pack(">iq", number, -1) for number in range(partitions))
    header = struct.pack(">ii", -1, 1) + name + struct.pack(">i", partitions)
    body = ask(broker, LIST_OFFSETS, 1, header + asked)
    rows = struct.iter_unpack(">ihqq", body[4 + len(name) + 4 :])
    return all(error == 0 for _, error, _, _ in rows)


def string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def attributes_of(batches: bytes) -> Iterator[int]:
    at = 0
    while at < len(batches):
        yield struct.unpack_from(">h", batches, at + ATTRIBUTES_AT)[0]
        at += 12 + struct.unpack_from(">i", batches, at + 8)[0]


def ask(broker: Broker, api: int, version: int, body: bytes) -> bytes:
    request = struct.pack(">hhih", api, version, 7, -1) + body
    with socket.create_connection(broker.address, timeout=10) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        stream = connection.makefile("rb")
        (size,) = struct.unpack(">i", stream.read(4))
        return stream.read(size)[4:]
