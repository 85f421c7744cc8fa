"""Many records of one shape, checked together.

Records of one shape have equal lengths, and so equal bytes at equal distances: the first byte of
each is a slice of the batch with a step, and one comparison checks it in all of them. Only times
and offsets differ from one to the next: offsets follow a known sequence, of times the width must be
the same.
"""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from samsa.records.varint import read_varint, varint

Plain: TypeAlias = bytes | bytearray
Places: TypeAlias = tuple[int, int, int, int, int, int, int]
"""Of a record that was read: where its length ends, its offset begins, its key's length, its key,
its value's length, its value, and its headers."""

FEWEST, MOST = 8, 4096
"""Records at once."""
ONE, TWO = 1 << 6, 1 << 13
"""Offsets below them take one byte, or two; from there on the last bytes change every `TWO`."""

_SINGLE = bytes(2 * n for n in range(ONE))
_LOW = bytes(0x80 | 2 * n & 0x7F for n in range(ONE + MOST))
_HIGH = bytes(n >> 6 for n in range(TWO))
_MIDDLE = bytes(0x80 | n for n in _HIGH)
_NOT_AFTER = [bytes(n for n in range(256) if n <= time or n & 1) for time in range(256)]
"""By a time of one byte: those that are not later. The odd ones are negative."""
_FLIPPED = bytes(n ^ 0x80 for n in range(256))


class Alike(NamedTuple):
    count: int  # type: ignore[assignment]  # a tuple's method's name too
    newest: int
    """The greatest of their times."""
    end: int
    """The position behind them."""


def alike(data: Plain, here: int, end: int, places: Places, number: int, most: int) -> Alike | None:
    """The records behind the one from `here` to `end`, if they have its shape, `FEWEST` at least.
    `number` is the first one's; there is room for `most`."""
    count = min(most, of_one_width(number))
    stride = end - here
    if count < FEWEST or data[end] != data[here] or data[end + stride] != data[here]:
        return None
    body, offset_at, key_at, key, value_at, value, headers_at = places
    same = [*range(here, body), *range(key_at, key), *range(value_at, value), headers_at]
    if data[headers_at]:
        same += _of_headers(data, headers_at)
    if not equal(data, same, stride, count):
        return None
    if not in_order(data, range(offset_at, key_at), stride, number, count):
        return None
    newest = newest_in(data, range(body + 1, offset_at), stride, count)
    return None if newest is None else Alike(count, newest, end + count * stride)


def of_one_width(number: int) -> int:
    """How many offsets, from one on, take as many bytes and differ in the first two at most."""
    return TWO - number % TWO if number >= ONE else ONE - number


def equal(data: Plain, places: Iterable[int], stride: int, count: int) -> bool:
    """Whether as many records have the bytes of the one before them."""
    span = count * stride
    for at in places:
        start = at + stride
        if data[start : start + span : stride] != data[at : at + 1] * count:
            return False
    return True


def _of_headers(data: Plain, position: int) -> list[int]:
    """Where the count of headers and their lengths lie."""
    headers, after = read_varint(data, position)
    same = list(range(position, after))
    for _ in range(2 * headers):
        length, start = read_varint(data, after)
        same.extend(range(after, start))
        after = start + max(0, length)
    return same


def in_order(data: Plain, places: range, stride: int, number: int, count: int) -> bool:
    span = count * stride
    if number < ONE:
        start = places[0] + stride
        column = data[start : start + span : stride]
        return len(places) == 1 and column == _SINGLE[number : number + count]
    last = varint(number)
    if len(places) != len(last):
        return False
    low, high = number % ONE, number % TWO
    wanted = [_LOW[low : low + count]]
    wanted.append((_HIGH if number < TWO else _MIDDLE)[high : high + count])
    wanted += [byte.to_bytes() * count for byte in last[2:]]
    return all(
        data[at + stride : at + stride + span : stride] == column
        for at, column in zip(places, wanted, strict=True)
    )


def newest_in(data: Plain, places: range, stride: int, count: int) -> int | None:
    """None if the times do not all take as many bytes, or take more than two."""
    start, span = places[0] + stride, count * stride
    first = data[start : start + span : stride]
    if len(places) == 1:
        return _newest_single(first) if first.isascii() else None
    second = data[start + 1 : start + 1 + span : stride]
    if len(places) == 2 and second.isascii() and first.translate(_FLIPPED).isascii():
        return _newest_double(first, second)
    return None


def _newest_single(times: Plain) -> int:
    """Times mostly rise: those after the last one are few."""
    last = times[-1]
    if last & 1:
        return max(map(_signed, times))
    return max(times.translate(None, _NOT_AFTER[last]), default=last) >> 1


def _newest_double(low: Plain, high: Plain) -> int:
    last, top = low[-1], high[-1]
    first = high.index(top)
    if not last & 1 and max(high) == top and high.count(top) == len(high) - first:
        later = low[first:].translate(None, _NOT_AFTER[last])
        return (max(later, default=last) & 0x7F | top << 7) >> 1
    return max(_signed(one & 0x7F | two << 7) for one, two in zip(low, high, strict=True))


def _signed(time: int) -> int:
    return ~(time >> 1) if time & 1 else time >> 1
