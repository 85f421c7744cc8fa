"""What a consumer sends as its metadata, written once more: not the library's own word."""

import struct


def text(value: str) -> bytes:
    return struct.pack(">h", len(value.encode())) + value.encode()


def listed(partitions) -> bytes:
    topics = {}
    for topic, number in sorted(partitions):
        topics.setdefault(topic, []).append(number)
    rows = [
        text(topic) + struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)
        for topic, numbers in topics.items()
    ]
    return struct.pack(">i", len(rows)) + b"".join(rows)


def subscription(topics, owned=(), version=1) -> bytes:
    names = b"".join(text(topic) for topic in topics)
    head = struct.pack(">hi", version, len(topics)) + names + struct.pack(">i", -1)
    return head + (listed(owned) if version else b"")


def assignment(partitions, version=1) -> bytes:
    return struct.pack(">h", version) + listed(partitions) + struct.pack(">i", -1)


class Pieces:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, shape: str) -> int:
        (value,) = struct.unpack_from(shape, self.data, self.at)
        self.at += struct.calcsize(shape)
        return value

    def text(self) -> str:
        size = self.take(">h")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def partitions(self) -> set:
        found = set()
        for _ in range(self.take(">i")):
            topic = self.text()
            found |= {(topic, self.take(">i")) for _ in range(self.take(">i"))}
        return found


def assigned(data: bytes) -> set:
    if not data:
        return set()
    pieces = Pieces(data)
    pieces.take(">h")
    return pieces.partitions()


def said(data: bytes) -> tuple[set, set]:
    """Topics and owned partitions of a subscription."""
    pieces = Pieces(data)
    version = pieces.take(">h")
    topics = {pieces.text() for _ in range(pieces.take(">i"))}
    assert pieces.take(">i") == -1
    return topics, pieces.partitions() if version else set()
