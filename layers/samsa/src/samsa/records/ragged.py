"""Checks many records together whose shapes differ only in the lengths of their values.

The start of each record is only known from the one before. So a loop that does nothing else copies
the first bytes of each record into a row. Then everything is checked in columns, as in
`columns.py`. A row begins with the last byte of the record before, the count of its headers: 0.

One comparison of two long integers, with a length in every 16 bits, checks that the lengths of all
records agree with the lengths of their values.
"""

from samsa.records.columns import (
    FEWEST,
    Alike,
    Places,
    Plain,
    equal,
    in_order,
    newest_in,
    of_one_width,
)

MOST = 1024
"""Records that are checked together: half a millisecond of work."""
WIDTH = 2
"""Bytes of a record's length, and of its value's length: both are then from 64 bytes to 8 KB."""
LONGEST_ROW = 64
_NOT_LENGTH = (0x80 >> 1) - WIDTH
_LOW = bytes(n for n in range(0x80, 0x100) if not n & 1)
"""First bytes of a length that has two bytes and is not negative."""
_BITS = bytes(n & 0x7F for n in range(256))


def ragged(
    data: Plain, size: int, here: int, places: Places, number: int, most: int
) -> Alike | None:
    """The records after the one at `here`, at least `FEWEST`; None if their shapes differ more.
    `number` is the number of the first of them. All records end at `size`."""
    body, _, _, _, value_at, value, headers_at = places
    width, end = value - here, headers_at + 1
    if (body - here, value - value_at) != (WIDTH, WIDTH) or data[headers_at]:
        return None
    count = min(most, MOST, of_one_width(number), (size - end) // width)
    if count < FEWEST or width > LONGEST_ROW:
        return None
    rows, after = _gathered(data, end, width, count)
    if after > size or len(rows) != count * (width + 1) or data[after - 1]:
        return None
    newest = _newest(b"\0" + data[here:value] + rows, here - 1, places, number, count)
    return None if newest is None else (count, newest, after)


def _gathered(data: Plain, position: int, width: int, count: int) -> tuple[bytes, int]:
    """The rows, and where the last record ends. Not checked yet."""
    rows: list[Plain] = []
    add = rows.append
    try:
        for _ in range(count):
            add(data[position - 1 : position + width])
            position += (data[position] + (data[position + 1] << 7) >> 1) - _NOT_LENGTH
    except IndexError:
        return b"", position
    return b"".join(rows), position


def _newest(rows: Plain, start: int, places: Places, number: int, count: int) -> int | None:
    """The greatest time in the rows after the first, which was read before. None if their shape
    differs from its."""
    body, offset_at, key_at, key, value_at, value, _ = (at - start for at in places)
    stride = value
    lengths = _lengths(rows, 1, stride, count)
    values = _lengths(rows, value_at, stride, count)
    if lengths is None or values is None:
        return None
    # The difference of the two lengths in the first row must hold in all rows.
    ones = int.from_bytes(b"\1\0" * count, "little")
    differ = _length(rows, 1) - _length(rows, value_at)
    if lengths != values + differ * ones:
        return None
    if not equal(rows, 0, 1, stride, count) or not equal(rows, key_at, key, stride, count):
        return None
    if not in_order(rows, offset_at, key_at, stride, number, count):
        return None
    return newest_in(rows, body + 1, offset_at, stride, count)


def _lengths(rows: Plain, at: int, stride: int, count: int) -> int | None:
    low, high = rows[at + stride :: stride], rows[at + 1 + stride :: stride]
    if low.translate(None, _LOW) or not high.isascii():
        return None
    lanes = bytearray(2 * count)
    lanes[::2] = high
    upper = int.from_bytes(lanes, "little")
    lanes[::2] = low.translate(_BITS)
    return (upper << 7) + int.from_bytes(lanes, "little")


def _length(rows: Plain, at: int) -> int:
    return rows[at] & 0x7F | rows[at + 1] << 7
