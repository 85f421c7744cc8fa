"""Checks many records of one shape together, column by column.

Records of one shape have equal lengths, and so equal bytes at equal distances. The first bytes of
all of them are a slice of the batch with a step, and one comparison checks them all. Only times and
offsets differ: offsets follow a known sequence, and times must have the same width.
"""

from typing import TypeAlias

from samsa.records.varint import read_varint, varint

Plain: TypeAlias = bytes | bytearray
Places: TypeAlias = tuple[int, int, int, int, int, int, int]
"""Positions in a record that was read: where its length ends, and where these begin: its offset,
its key's length, its key, its value's length, its value, its headers."""

FEWEST, MOST = 8, 4096
"""Records that are checked together."""
ONE, TWO = 1 << 6, 1 << 13
"""Offsets below ONE take one byte, below TWO two bytes; above, the bytes after the first two change
every `TWO` offsets."""

_SINGLE = bytes(2 * n for n in range(ONE))
_LOW = bytes(0x80 | 2 * n & 0x7F for n in range(ONE + MOST))
_HIGH = bytes(n >> 6 for n in range(TWO))
_MIDDLE = bytes(0x80 | n for n in _HIGH)
_NOT_AFTER = [bytes(n for n in range(256) if n <= time or n & 1) for time in range(256)]
"""For each time of one byte: the times that are not later. Odd ones are negative."""
_FLIPPED = bytes(n ^ 0x80 for n in range(256))


Alike: TypeAlias = tuple[int, int, int]
"""The number of records, the greatest of their times, and the position after them."""


def alike(data: Plain, here: int, end: int, places: Places, number: int, most: int) -> Alike | None:
    """The records after the one from `here` to `end`, if they have its shape, at least `FEWEST`.
    `number` is the number of the first of them; there may be up to `most`."""
    count = min(most, of_one_width(number))
    stride = end - here
    if count < FEWEST or data[end] != data[here] or data[end + stride] != data[here]:
        return None
    body, offset_at, key_at, key, value_at, value, headers_at = places
    if not (
        equal(data, here, body, stride, count)
        and equal(data, key_at, key, stride, count)
        and equal(data, value_at, value, stride, count)
        and equal(data, headers_at, headers_at + 1, stride, count)
        and (not data[headers_at] or _same_headers(data, headers_at, stride, count))
        and in_order(data, offset_at, key_at, stride, number, count)
    ):
        return None
    newest = newest_in(data, body + 1, offset_at, stride, count)
    return None if newest is None else (count, newest, end + count * stride)


def of_one_width(number: int) -> int:
    """How many offsets, from `number` on, have the same width and differ only in the first two
    bytes."""
    return TWO - number % TWO if number >= ONE else ONE - number


def equal(data: Plain, start: int, end: int, stride: int, count: int) -> bool:
    """Whether the next `count` records have the same bytes in [start, end) as this one."""
    span = count * stride
    for at in range(start, end):
        if data[at + stride : at + stride + span : stride] != data[at : at + 1] * count:
            return False
    return True


def _same_headers(data: Plain, position: int, stride: int, count: int) -> bool:
    """Whether the count of headers and their lengths are the same."""
    headers, after = read_varint(data, position)
    if not equal(data, position, after, stride, count):
        return False
    for _ in range(2 * headers):
        length, start = read_varint(data, after)
        if not equal(data, after, start, stride, count):
            return False
        after = start + max(0, length)
    return True


def in_order(data: Plain, start: int, end: int, stride: int, number: int, count: int) -> bool:
    first, span = start + stride, count * stride
    low = data[first : first + span : stride]
    if number < ONE:
        return end - start == 1 and low == _SINGLE[number : number + count]
    if low != _LOW[number % ONE : number % ONE + count]:
        return False
    second, place = data[first + 1 : first + 1 + span : stride], number % TWO
    if number < TWO:
        return end - start == 2 and second == _HIGH[place : place + count]
    last = varint(number)
    return (
        end - start == len(last)
        and second == _MIDDLE[place : place + count]
        and all(
            data[first + at : first + at + span : stride] == last[at : at + 1] * count
            for at in range(2, len(last))
        )
    )


def newest_in(data: Plain, start: int, end: int, stride: int, count: int) -> int | None:
    """The greatest time. None if the times have different widths, or more than two bytes."""
    first, span = start + stride, count * stride
    times = data[first : first + span : stride]
    if end - start == 1:
        return newest_of(times)
    second = data[first + 1 : first + 1 + span : stride]
    if end - start == 2 and second.isascii() and times.translate(_FLIPPED).isascii():
        return _newest_double(times, second)
    return None


def newest_of(times: Plain) -> int | None:
    """The greatest of times of one byte each. None if some have more bytes."""
    if not times.isascii():
        return None
    if (last := times[-1]) & 1:
        return max(map(_signed, times))
    # Times mostly rise: few are later than the last one.
    later = times.translate(None, _NOT_AFTER[last])
    return (max(later) if later else last) >> 1


def _newest_double(low: Plain, high: Plain) -> int:
    last, top = low[-1], high[-1]
    first = high.index(top)
    if not last & 1 and max(high) == top and high.count(top) == len(high) - first:
        later = low[first:].translate(None, _NOT_AFTER[last])
        return (max(later, default=last) & 0x7F | top << 7) >> 1
    return max(_signed(one & 0x7F | two << 7) for one, two in zip(low, high, strict=True))


def _signed(time: int) -> int:
    return ~(time >> 1) if time & 1 else time >> 1
