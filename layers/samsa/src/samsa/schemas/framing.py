"""Values as serializers with a registry write them: a zero byte, the schema's id, and the value."""

import struct
from typing import NamedTuple

from .errors import NotFramed

MAGIC = 0
_HEAD = struct.Struct(">bI")


class Framed(NamedTuple):
    schema_id: int
    data: bytes


def unframed(value: bytes) -> Framed:
    """Raises NotFramed."""
    if len(value) < _HEAD.size or value[0] != MAGIC:
        raise NotFramed("it does not begin with a schema's id")
    return Framed(_HEAD.unpack_from(value)[1], bytes(value[_HEAD.size :]))


def framed(schema_id: int, data: bytes) -> bytes:
    return _HEAD.pack(MAGIC, schema_id) + data
