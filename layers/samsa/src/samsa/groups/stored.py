"""A group of either protocol as the bytes of one ledger item. The first byte says which protocol.

Larger groups are compressed: tickets and ids hardly shrink, but subscriptions and assignments do,
and DynamoDB charges for every kilobyte that is written. The size before compression is limited too,
so that no item unpacks to more than a process can hold.
"""

import struct
import zlib

from . import classic_stored, consumer_stored
from .classic_state import ClassicGroup
from .packing import CorruptGroup
from .step import Group

COMPRESSED = b"\x05"
COMPRESS_FROM = 4_096
"""Bytes. A smaller group costs four write units at most."""
MOST_UNPACKED = 1024 * 1024


class GroupTooLarge(Exception):
    """The group cannot be stored."""


class Packer:
    """Packs successive states of one group. Few members change between two states, and only these
    are packed again."""

    def __init__(self) -> None:
        self._packed = classic_stored.Packed()

    def pack(self, group: Group) -> bytes:
        """Raises TooLarge."""
        if isinstance(group, ClassicGroup):
            packed = classic_stored.pack(group, self._packed)
        else:
            packed = consumer_stored.pack(group)
        if len(packed) < COMPRESS_FROM:
            return packed
        if len(packed) > MOST_UNPACKED:
            raise GroupTooLarge(f"a group of {len(packed)} bytes")
        smaller = COMPRESSED + zlib.compress(packed, 1)
        return smaller if len(smaller) < len(packed) else packed


def pack(group: Group) -> bytes:
    return Packer().pack(group)


def unpack(data: bytes) -> Group:
    try:
        if data[:1] == COMPRESSED:
            data = _decompressed(data[1:])
        if data[0] == classic_stored.CLASSIC:
            return classic_stored.unpack(data)
        if data[0] == consumer_stored.CONSUMER:
            return consumer_stored.unpack(data)
    except (struct.error, IndexError, ValueError, zlib.error) as error:
        raise CorruptGroup(str(error)) from error
    raise CorruptGroup(f"a group of kind {data[0]}")


def _decompressed(data: bytes) -> bytes:
    reader = zlib.decompressobj()
    found = reader.decompress(data, MOST_UNPACKED)
    if not reader.eof or reader.unused_data:
        raise CorruptGroup("it ends too early, or is too large")
    return found
