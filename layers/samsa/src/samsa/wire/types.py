"""The primitive types of Kafka's protocol."""

from __future__ import annotations

import uuid
from typing import Any


class Primitive:
    """One wire type: its `struct` code when its size is fixed, else the code of its length."""

    __slots__ = ("code", "default", "name", "size")

    def __init__(self, name: str, code: str, size: int, default: Any) -> None:
        self.name = name
        self.code = code
        self.size = size
        self.default = default

    def __repr__(self) -> str:
        return self.name


class Fixed(Primitive):
    """A value that always takes `size` bytes."""


class Sized(Primitive):
    """A value after its length: a varint in flexible versions, else `size` bytes of `code`."""


BOOLEAN = Fixed("BOOLEAN", "?", 1, False)
INT8 = Fixed("INT8", "b", 1, 0)
INT16 = Fixed("INT16", "h", 2, 0)
UINT16 = Fixed("UINT16", "H", 2, 0)
INT32 = Fixed("INT32", "i", 4, 0)
UINT32 = Fixed("UINT32", "I", 4, 0)
INT64 = Fixed("INT64", "q", 8, 0)
FLOAT64 = Fixed("FLOAT64", "d", 8, 0.0)
UUID = Fixed("UUID", "16s", 16, uuid.UUID(int=0))
STRING = Sized("STRING", "h", 2, "")
BYTES = Sized("BYTES", "i", 4, b"")
RECORDS = Sized("RECORDS", "i", 4, None)
