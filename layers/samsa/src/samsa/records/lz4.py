"""LZ4 frames, and the header checksum that Kafka got wrong before 0.10.

Before 0.10, Java clients hashed the frame's magic together with its descriptor (KAFKA-3160).
Message sets of magic 0 still carry that checksum, so it is corrected before such a frame is read.
"""

from samsa.records.bounded import Buffer, decompress_into
from samsa.records.errors import CorruptBatch

FRAME_MAGIC = b"\x04\x22\x4d\x18"
HAS_CONTENT_SIZE = 0x08
HAS_DICTIONARY = 0x01

_PRIME_1, _PRIME_2, _PRIME_3, _PRIME_4, _PRIME_5 = (
    0x9E3779B1,
    0x85EBCA77,
    0xC2B2AE3D,
    0x27D4EB2F,
    0x165667B1,
)
_MASK = 0xFFFFFFFF


def decompress(data: Buffer, limit: int) -> bytes:
    import cramjam

    return decompress_into(cramjam.lz4.decompress_into, data, limit)


def compress(data: Buffer) -> bytes:
    import cramjam

    # The Java client refuses blocks that refer to one another.
    stream = cramjam.lz4.Compressor(block_linked=False)
    stream.compress(bytes(data))
    return bytes(stream.finish())


def mend(frame: Buffer) -> bytes:
    """The same frame with the correct header checksum."""
    mended = bytearray(frame)
    if mended[:4] != FRAME_MAGIC or len(mended) < 7:
        raise CorruptBatch("lz4: not a frame")
    end = 6 + 8 * bool(mended[4] & HAS_CONTENT_SIZE) + 4 * bool(mended[4] & HAS_DICTIONARY)
    if len(mended) <= end:
        raise CorruptBatch("lz4: the frame header is cut")
    mended[end] = header_checksum(bytes(mended[4:end]))
    return bytes(mended)


def header_checksum(descriptor: bytes) -> int:
    """The second byte of the descriptor's xxHash-32. A descriptor has 2 to 14 bytes, so xxHash's
    16-byte stripes are not needed."""
    whole = len(descriptor) & ~3
    state = _PRIME_5 + len(descriptor)
    for start in range(0, whole, 4):
        lane = int.from_bytes(descriptor[start : start + 4], "little")
        state = _rotate(state + lane * _PRIME_3, 17) * _PRIME_4
    for byte in descriptor[whole:]:
        state = _rotate(state + byte * _PRIME_5, 11) * _PRIME_1
    return (_avalanche(state & _MASK) >> 8) & 0xFF


def _rotate(value: int, bits: int) -> int:
    value &= _MASK
    return (value << bits | value >> (32 - bits)) & _MASK


def _avalanche(state: int) -> int:
    state = ((state ^ state >> 15) * _PRIME_2) & _MASK
    state = ((state ^ state >> 13) * _PRIME_3) & _MASK
    return state ^ state >> 16
