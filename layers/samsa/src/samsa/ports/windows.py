"""Windows: objects that hold appends to several partitions.

A window begins with its directory: for each append the partition, and the offset that was guessed
for it, which is never above the one it got. So the directory tells which heads may name the window.
The key says when it was put, and how long the directory is.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from .objects import Buffer
from .partitions import Partition

WINDOWS = "log/windows/"
WINDOW_BYTES = 8 * 1024 * 1024
"""What one put carries; a larger append has a put of its own."""
_ROW = struct.Struct(">16siq")


class WindowRow(NamedTuple):
    """One append of a window's directory."""

    partition: Partition
    guess: int


def window_key(now_ms: int, rows: int, nonce: str) -> str:
    return f"{WINDOWS}{max(now_ms, 0):013d}-{rows}-{nonce}"


def put_at(key: str) -> int:
    """When it was put (ms)."""
    return int(key.removeprefix(WINDOWS).split("-")[0])


def directory_size(key: str) -> int:
    return int(key.removeprefix(WINDOWS).split("-")[1]) * _ROW.size


def directory(rows: Sequence[WindowRow]) -> bytes:
    return b"".join(_ROW.pack(p.topic_id.bytes, p.number, guess) for p, guess in rows)


def read_directory(packed: Buffer) -> list[WindowRow]:
    return [
        WindowRow(Partition(UUID(bytes=topic), number), guess)
        for topic, number, guess in _ROW.iter_unpack(packed)
    ]
