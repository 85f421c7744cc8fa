"""A group as the bytes of one ledger item, whichever its protocol. The first byte says which."""

import struct

from . import classic_stored, consumer_stored
from .classic_state import ClassicGroup
from .packing import Corrupt
from .step import Group


class Packer:
    """Packs the states of one group, one after the other. From one to the next few members change,
    and only these are packed again."""

    def __init__(self) -> None:
        self._packed = classic_stored.Packed()

    def pack(self, group: Group) -> bytes:
        if isinstance(group, ClassicGroup):
            return classic_stored.pack(group, self._packed)
        return consumer_stored.pack(group)


def pack(group: Group) -> bytes:
    return Packer().pack(group)


def unpack(data: bytes) -> Group:
    try:
        if data[0] == classic_stored.CLASSIC:
            return classic_stored.unpack(data)
        if data[0] == consumer_stored.CONSUMER:
            return consumer_stored.unpack(data)
    except (struct.error, IndexError, ValueError) as error:
        raise Corrupt(str(error)) from error
    raise Corrupt(f"a group of kind {data[0]}")
