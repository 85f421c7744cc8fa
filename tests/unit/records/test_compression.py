import struct
import zlib

import cramjam
import pytest

from samsa.records import Codec, CorruptBatch, UnsupportedCodec, lz4, snappy
from samsa.records.compression import compress, decompress

PLAIN = b"the same words again and again " * 5000
PACKED = {codec: compress(codec, PLAIN) for codec in Codec if codec is not Codec.NONE}
SIZE = len(PLAIN)


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("plain", [b"", b"x", PLAIN], ids=["nothing", "a byte", "much"])
def test_what_was_compressed_comes_back(codec, plain):
    assert decompress(codec, compress(codec, memoryview(plain)), limit=SIZE) == plain


@pytest.mark.parametrize("codec", PACKED)
def test_compression_makes_it_smaller(codec):
    assert len(PACKED[codec]) < SIZE / 10


@pytest.mark.parametrize("codec", PACKED)
def test_one_byte_over_the_limit_is_too_much(codec):
    with pytest.raises(CorruptBatch):
        decompress(codec, PACKED[codec], limit=SIZE - 1)


@pytest.mark.parametrize("codec", PACKED)
def test_nothing_fits_into_a_limit_of_nothing(codec):
    assert decompress(codec, compress(codec, b""), limit=0) == b""
    for plain in (b"x", PLAIN):
        with pytest.raises(CorruptBatch):
            decompress(codec, compress(codec, plain), limit=0)


@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "trailing"])
def test_damaged_data_is_corrupt(codec, damage):
    packed = PACKED[codec]
    damaged = {
        "cut": packed[: len(packed) // 2],
        "garbage": b"\x00\xff" * 50,
        "empty": b"",
        "trailing": packed + b"more",
    }
    with pytest.raises(CorruptBatch):
        decompress(codec, damaged[damage], limit=2 * SIZE)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_codecs_without_a_name_are_unsupported(codec):
    with pytest.raises(UnsupportedCodec):
        decompress(codec, b"", limit=0)
    with pytest.raises(UnsupportedCodec):
        compress(codec, b"")


def test_uncompressed_data_has_no_limit_for_it_is_here_already():
    assert decompress(Codec.NONE, PLAIN, limit=0) == PLAIN


def test_a_raw_snappy_block_is_read_as_librdkafka_writes_it():
    assert decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(PLAIN)), SIZE) == PLAIN


def test_snappy_is_written_in_the_frames_of_the_java_client():
    packed = PACKED[Codec.SNAPPY]
    (length,) = struct.unpack_from(">i", packed, 16)
    assert packed[:16] == b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
    assert bytes(cramjam.snappy.decompress_raw(packed[20 : 20 + length])) == PLAIN[: 32 * 1024]


@pytest.mark.parametrize(
    "blocks",
    [b"\x00\x00", b"\x00\x00\x00\x09abc", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00"],
    ids=["a cut length", "a cut block", "a negative length", "a block of nothing"],
)
def test_snappy_frames_that_lie_are_corrupt(blocks):
    with pytest.raises(CorruptBatch):
        decompress(Codec.SNAPPY, snappy.XERIAL_HEADER + blocks, limit=SIZE)


def test_a_cut_snappy_stream_header_is_corrupt():
    with pytest.raises(CorruptBatch):
        decompress(Codec.SNAPPY, snappy.XERIAL_HEADER[:12], limit=SIZE)


def test_the_best_snappy_ratio_is_not_taken_for_a_lie():
    zeros = bytes(1 << 20)
    assert decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(zeros)), 1 << 20) == zeros


def test_two_gzip_streams_are_not_one():
    with pytest.raises(CorruptBatch):
        decompress(Codec.GZIP, PACKED[Codec.GZIP] * 2, limit=3 * SIZE)


def test_a_zlib_stream_is_not_gzip():
    with pytest.raises(CorruptBatch):
        decompress(Codec.GZIP, zlib.compress(PLAIN), limit=SIZE)


@pytest.mark.parametrize(
    ("descriptor", "checksum"), [(b"\x60\x40", 0x82), (b"\x64\x40", 0xA7), (b"\x60\x70", 0x73)]
)
def test_lz4_header_checksums_are_those_of_the_lz4_tool(descriptor, checksum):
    assert lz4.header_checksum(descriptor) == checksum


def test_lz4_blocks_stand_alone_as_the_java_client_demands():
    assert PACKED[Codec.LZ4][4] & 0x20


def test_a_header_checksum_over_too_much_is_mended_and_otherwise_refused():
    broken = bytearray(PACKED[Codec.LZ4])
    broken[6] = lz4.header_checksum(bytes(broken[:6]))
    with pytest.raises(CorruptBatch):
        decompress(Codec.LZ4, broken, limit=SIZE)
    assert decompress(Codec.LZ4, lz4.mend(broken), limit=SIZE) == PLAIN


def test_a_header_with_a_content_size_is_mended_behind_it():
    descriptor = b"\x68\x40" + struct.pack("<q", 3)
    block = b"\x03\x00\x00\x80abc\x00\x00\x00\x00"
    broken = lz4.FRAME_MAGIC + descriptor + b"\x00" + block
    assert decompress(Codec.LZ4, lz4.mend(broken), limit=3) == b"abc"


@pytest.mark.parametrize(
    "frame", [b"", b"\x04\x22\x4d\x18\x60\x40", b"\x04\x22\x4d\x18\x68\x40\x82", b"no lz4 at all"]
)
def test_what_is_no_lz4_frame_cannot_be_mended(frame):
    with pytest.raises(CorruptBatch):
        lz4.mend(frame)
