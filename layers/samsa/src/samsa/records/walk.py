"""Validates the plain records of a batch: what Apache Kafka checks before it stores them.

Every length, count and offset is checked; keys and values are not. Most records of a producer have
one shape. If the next records are like the last one, they are checked together, column by column
(`columns.py`; `ragged.py` if their values have different lengths). All others are read one by one,
in an inlined loop: a call for each record would cost more than the rest.
"""

from typing import NamedTuple

from samsa.records.columns import FEWEST, MOST, ONE, Plain, alike
from samsa.records.errors import InvalidRecord
from samsa.records.ragged import ragged
from samsa.records.unpack import Making

SLICE = 512
"""Records between two yields."""
LONGEST_PAUSE = 1024
"""Records that are read one by one before columns are tried again."""
LONGEST_INT, LONGEST_TIME = 5, 9
"""Bytes. A time delta of ten bytes is greater than any clock can cause."""
NO_TIME = -(1 << 63)


class Walked(NamedTuple):
    newest: int
    """The greatest of the times, relative to the batch's base timestamp."""
    keyless: list[int]
    """The numbers of the records without a key, if they were asked for."""


def walk(  # noqa: C901, PLR0912, PLR0915
    count: int, data: Plain, keys: bool = False, size: int | None = None
) -> Making[Walked]:
    """Raises InvalidRecord for the first error.

    `size`: the end of the records, if the data is longer.
    """
    keyless: list[int] = []
    position, number, newest = 0, 0, NO_TIME
    size = len(data) if size is None else size
    stop, pause, patience, together = SLICE, 0, FEWEST, ONE
    try:
        while number < count:
            here = position
            if (length := data[position]) < 0x80:
                position += 1
            elif (second := data[position + 1]) < 0x80:
                length += (second << 7) - 0x80
                position += 2
            else:
                length, position = _longer(data, position)
            body, end = position, position + (length >> 1)
            # One byte of unused attributes comes before the time.
            if (time := data[position + 1]) < 0x80:
                position += 2
            elif (second := data[position + 2]) < 0x80:
                time += (second << 7) - 0x80
                position += 3
            else:
                time, position = _longer(data, position + 1, LONGEST_TIME)
            time = ~(time >> 1) if time & 1 else time >> 1
            if time > newest:
                newest = time
            offset_at = position
            if (delta := data[position]) < 0x80:
                position += 1
            elif (second := data[position + 1]) < 0x80:
                delta += (second << 7) - 0x80
                position += 2
            else:
                delta, position = _longer(data, position)
            key_at = position
            if (key := data[position]) < 0x80:
                position += 1
            elif (second := data[position + 1]) < 0x80:
                key += (second << 7) - 0x80
                position += 2
            else:
                key, position = _longer(data, position)
            key_start = position
            if not key & 1:
                position += key >> 1
            elif keys:
                keyless.append(number)
            value_at = position
            if (value := data[position]) < 0x80:
                position += 1
            elif (second := data[position + 1]) < 0x80:
                value += (second << 7) - 0x80
                position += 2
            else:
                value, position = _longer(data, position)
            value_start = position
            if not value & 1:
                position += value >> 1
            headers_at = position
            if data[position]:
                position = _after_headers(data, position, end)
            else:
                position += 1
            if position != end or delta != number + number or length & 1:
                raise _wrong(number, length, delta)
            number += 1
            if pause:
                pause -= 1
            elif count - number >= FEWEST and end < size:
                places = (body, offset_at, key_at, key_start, value_at, value_start, headers_at)
                most = min(together, count - number)
                room = (size - end) // (end - here)
                found = alike(data, here, end, places, number, min(most, room))
                if found is None and data[end : end + 2] != data[here : here + 2]:
                    found = ragged(data, size, here, places, number, most)
                if found is None:
                    pause = patience
                    patience = min(2 * patience, LONGEST_PAUSE)
                    together = ONE
                else:
                    first, (more, latest, position) = number, found
                    number += more
                    if keys and key & 1:
                        keyless.extend(range(first, number))
                    if latest > newest:
                        newest = latest
                    patience, together = FEWEST, min(4 * together, MOST)
            if number >= stop:
                stop = number + SLICE
                yield None
    except IndexError:
        raise InvalidRecord("a record is cut") from None
    if position != size:
        raise InvalidRecord("there are bytes after the last record")
    return Walked(newest, keyless)


def _longer(data: Plain, position: int, longest: int = LONGEST_INT) -> tuple[int, int]:
    """The same as `_long`, for an integer of more than two bytes: mostly three."""
    third = data[position + 2]
    if third < 0x80:
        low = data[position] & 0x7F | (data[position + 1] & 0x7F) << 7
        return low | third << 14, position + 3
    return _long(data, position, longest)


def _long(data: Plain, position: int, longest: int = LONGEST_INT) -> tuple[int, int]:
    """An integer with its sign still in the lowest bit, and the position after it."""
    value = 0
    for index in range(longest):
        byte = data[position + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, position + index + 1
    raise InvalidRecord("an integer is too large")


def _after_headers(data: Plain, position: int, end: int) -> int:
    count, position = _long(data, position)
    # `count` is twice the headers, and each takes at least two bytes: this bounds the loop.
    if count & 1 or count > end - position:
        raise InvalidRecord("a record has headers that cannot be counted")
    for _ in range(count >> 1):
        name, position = _long(data, position)
        if name & 1:
            raise InvalidRecord("a record header has no name")
        value, position = _long(data, position + (name >> 1))
        if not value & 1:
            position += value >> 1
    return position


def _wrong(number: int, length: int, delta: int) -> InvalidRecord:
    if delta != 2 * number:
        return InvalidRecord(f"record {number} is not in its place")
    if length & 1:
        return InvalidRecord(f"record {number} has a negative length")
    return InvalidRecord(f"record {number} is not as long as it says")
