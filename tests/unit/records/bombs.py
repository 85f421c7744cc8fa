"""Small data that unpacks to much, made without ever holding what it unpacks to."""

import struct
import zlib

import cramjam

from samsa.records import Codec, lz4, snappy

MEGABYTE = 1 << 20
ZSTD_BLOCK = 128 * 1024
LZ4_BLOCK = 4 * MEGABYTE


def bomb(codec: Codec, megabytes: int) -> bytes:
    makers = {
        Codec.GZIP: _gzip,
        Codec.SNAPPY: _snappy,
        Codec.LZ4: _lz4,
        Codec.ZSTD: _zstd,
    }
    return makers[codec](megabytes)


def _gzip(megabytes: int) -> bytes:
    stream = zlib.compressobj(wbits=31)
    zeros = bytes(MEGABYTE)
    return b"".join(stream.compress(zeros) for _ in range(megabytes)) + stream.flush()


def _snappy(megabytes: int) -> bytes:
    block = bytes(cramjam.snappy.compress_raw(bytes(MEGABYTE)))
    return snappy.XERIAL_HEADER + (struct.pack(">i", len(block)) + block) * megabytes


def _lz4(megabytes: int) -> bytes:
    descriptor = b"\x60\x70"
    header = lz4.FRAME_MAGIC + descriptor + bytes((lz4.header_checksum(descriptor),))
    block = bytes(cramjam.lz4.compress_block(bytes(LZ4_BLOCK), store_size=False))
    blocks = (struct.pack("<I", len(block)) + block) * (megabytes * MEGABYTE // LZ4_BLOCK)
    return header + blocks + bytes(4)


def _zstd(megabytes: int) -> bytes:
    count = megabytes * MEGABYTE // ZSTD_BLOCK
    frame = [b"\x28\xb5\x2f\xfd\x00\x38"]
    for index in range(count):
        last = index == count - 1
        frame.append((ZSTD_BLOCK << 3 | 0b010 | last).to_bytes(3, "little") + b"\x00")
    return b"".join(frame)
