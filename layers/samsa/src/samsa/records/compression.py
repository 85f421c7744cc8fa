"""Compress, and decompress up to a limit.

A producer chooses the bytes, so a small batch may unpack to gigabytes. Every codec stops at the
caller's limit, and none reserves memory only because a header claims a size. cramjam is imported
where it is used: most processes never look inside a batch.
"""

import zlib
from collections.abc import Callable
from enum import IntEnum

from samsa.records import bounded, lz4, snappy
from samsa.records.bounded import Buffer, attempt, too_large
from samsa.records.errors import CorruptBatch, UnsupportedCodec

GZIP_WINDOW = 31  # for zlib: a gzip header, the largest window
ZSTD_LEVEL = 3
CODEC_MASK = 0x07


class Codec(IntEnum):
    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_CODECS = {int(codec): codec for codec in Codec}


def codec_of(attributes: int) -> Codec:
    """The codec in the low three bits of the attributes of a batch or a message."""
    codec = _CODECS.get(attributes & CODEC_MASK)
    if codec is None:
        raise UnsupportedCodec(f"no compression codec has the number {attributes & CODEC_MASK}")
    return codec


def decompress(codec: int, data: Buffer, limit: int) -> bytes:
    """The plain bytes, at most `limit`. The limit does not apply to uncompressed data."""
    return _DECOMPRESS[codec_of(codec)](data, limit)


def decompress_into(codec: int, data: Buffer, room: bytearray) -> int | None:
    """How many plain bytes were written to the room. None: they do not fit, the data is corrupt, or
    the codec cannot do this."""
    import cramjam

    ways = {Codec.LZ4: cramjam.lz4.decompress_into, Codec.ZSTD: cramjam.zstd.decompress_into}
    way = ways.get(codec_of(codec))
    return None if way is None else attempt(way, data, room)


def compress(codec: int, data: Buffer) -> bytes:
    return _COMPRESS[codec_of(codec)](data)


def _as_is(data: Buffer, _limit: int) -> bytes:
    return bytes(data)


def _gunzip(data: Buffer, limit: int) -> bytes:
    stream = zlib.decompressobj(GZIP_WINDOW)
    try:
        plain = stream.decompress(data, limit + 1)
    except zlib.error as error:
        raise CorruptBatch(f"gzip: {error}") from None
    if len(plain) > limit:
        raise too_large(limit)
    if not stream.eof or stream.unused_data:
        raise CorruptBatch("gzip: not exactly one whole stream")
    return plain


def _gzip(data: Buffer) -> bytes:
    stream = zlib.compressobj(wbits=GZIP_WINDOW)
    return stream.compress(data) + stream.flush()


def _unzstd(data: Buffer, limit: int) -> bytes:
    import cramjam

    return bounded.decompress_into(cramjam.zstd.decompress_into, data, limit)


def _zstd(data: Buffer) -> bytes:
    import cramjam

    return bytes(cramjam.zstd.compress(data, ZSTD_LEVEL))


_DECOMPRESS: dict[Codec, Callable[[Buffer, int], bytes]] = {
    Codec.NONE: _as_is,
    Codec.GZIP: _gunzip,
    Codec.SNAPPY: snappy.decompress,
    Codec.LZ4: lz4.decompress,
    Codec.ZSTD: _unzstd,
}

_COMPRESS: dict[Codec, Callable[[Buffer], bytes]] = {
    Codec.NONE: bytes,
    Codec.GZIP: _gzip,
    Codec.SNAPPY: snappy.compress,
    Codec.LZ4: lz4.compress,
    Codec.ZSTD: _zstd,
}
