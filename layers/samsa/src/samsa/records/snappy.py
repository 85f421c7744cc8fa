"""Snappy as Kafka clients write it: one raw block, or xerial's stream of raw blocks.

Java, Python and JavaScript clients write xerial's framing (a 16-byte header, then blocks with
their length in front); librdkafka writes one raw block.
"""

import struct
from collections.abc import Iterator

from samsa.records.bounded import Buffer, too_large
from samsa.records.errors import CorruptBatch

XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER = XERIAL_MAGIC + struct.pack(">ii", 1, 1)
XERIAL_BLOCK = 32 * 1024

# A copy of 64 bytes takes three bytes: no valid block unpacks to more than this per byte.
BEST_RATIO = 22

_LENGTH = struct.Struct(">i")


def decompress(data: Buffer, limit: int) -> bytes:
    view = memoryview(data)
    blocks = list(_xerial_blocks(view)) if view[:8] == XERIAL_MAGIC else [view]
    sizes = [_plain_size(block) for block in blocks]
    if sum(sizes) > limit:
        raise too_large(limit)
    return b"".join(map(_unpack, blocks, sizes))


def compress(data: Buffer) -> bytes:
    import cramjam

    view = memoryview(data)
    pieces = [XERIAL_HEADER]
    for start in range(0, len(view), XERIAL_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + XERIAL_BLOCK]))
        pieces += (_LENGTH.pack(len(block)), block)
    return b"".join(pieces)


def _xerial_blocks(view: memoryview) -> Iterator[memoryview]:
    position = len(XERIAL_HEADER)
    if len(view) < position:
        raise CorruptBatch("snappy: the stream header is cut")
    while position < len(view):
        start = position + _LENGTH.size
        if start > len(view):
            raise CorruptBatch("snappy: a block length is cut")
        (length,) = _LENGTH.unpack_from(view, position)
        position = start + length
        if length < 0 or position > len(view):
            raise CorruptBatch("snappy: a block is longer than the stream")
        yield view[start:position]


def _plain_size(block: memoryview) -> int:
    import cramjam

    try:
        size = cramjam.snappy.decompress_raw_len(block)
    except cramjam.DecompressionError as error:
        raise CorruptBatch(str(error)) from None
    if size > BEST_RATIO * len(block):
        raise CorruptBatch("snappy: a block claims more than it can hold")
    return size


def _unpack(block: memoryview, size: int) -> bytes:
    import cramjam

    room = bytearray(size)
    try:
        cramjam.snappy.decompress_raw_into(block, room)
    except cramjam.DecompressionError as error:
        raise CorruptBatch(str(error)) from None
    return bytes(room)
