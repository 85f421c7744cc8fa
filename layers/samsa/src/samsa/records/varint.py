"""Zigzag variable-length integers, as in protocol buffers."""

from samsa.records.errors import CorruptBatch

LONGEST = 10


def read_varint(data: bytes | bytearray | memoryview, position: int) -> tuple[int, int]:
    """The integer at a position, and the position after it. IndexError where the data ends."""
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    # Fast path: almost every length and offset takes one byte or two.
    second = data[position + 1]
    if second < 0x80:
        return (byte >> 1 & 0x3F | second << 6) ^ -(byte & 1), position + 2
    return _read_long(data, position)


def _read_long(data: bytes | bytearray | memoryview, position: int) -> tuple[int, int]:
    value = 0
    for index in range(LONGEST):
        byte = data[position + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position + index + 1
    raise CorruptBatch("an integer does not end")


def varint(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    if value < 0x80:
        return _SHORT[value]
    pieces = bytearray()
    while value >= 0x80:
        pieces.append(value & 0x7F | 0x80)
        value >>= 7
    pieces.append(value)
    return bytes(pieces)


_SHORT = [bytes((value,)) for value in range(0x80)]
