"""Records of many batches at once: loops over bytes, which numba compiles to machine code.

Imported only where it pays: numba and its compiler take a second to load. Everything is checked as
`samsa.records.parse` checks it, because a batch with the right checksum may still hold nonsense.
"""

from typing import Any

import numpy as np
from numba import njit

START, STOP, COUNT, BASE, NEXT, BASE_TIME, APPEND_TIME, KIND = range(8)
"""Columns of the table of batches: where a batch's plain bytes are, and what its header says."""
WIDTH = 8
SMALLEST, LARGEST = -(2**63), 2**63 - 1

CUT, MISPLACED, WRONG_LENGTH, TOO_LATE, LEFT_OVER, BAD_HEADERS = range(-1, -7, -1)
REASONS = {
    CUT: "a record is cut or garbled",
    MISPLACED: "an offset is not in its place",
    WRONG_LENGTH: "a record is not as long as it says",
    TOO_LATE: "a timestamp does not fit into 64 bits",
    LEFT_OVER: "there are bytes after the last record",
    BAD_HEADERS: "a record header has no name, or there are fewer than none",
}


def _compiled(function: Any) -> Any:
    """Compiled once per machine, and kept beside this file or in the user's cache."""
    how: Any = {"nogil": True, "error_model": "numpy"}
    try:
        return njit(cache=True, **how)(function)
    except RuntimeError:  # the machine code cannot be stored: each worker compiles it again
        return njit(**how)(function)


_inlined: Any = njit(inline="always", error_model="numpy")


@_inlined
def _varint(data: Any, at: int, stop: int) -> Any:
    """The integer at a position and the position after it, which is −1 where there is none."""
    if at >= stop:
        return 0, -1
    byte = np.uint64(data[at])
    at += 1
    raw = byte & np.uint64(0x7F)
    shift = np.uint64(7)
    while byte >= np.uint64(0x80):
        if at >= stop or shift > np.uint64(63):
            return 0, -1
        byte = np.uint64(data[at])
        at += 1
        if shift == np.uint64(63) and byte > np.uint64(1):
            return 0, -1
        raw |= (byte & np.uint64(0x7F)) << shift
        shift += np.uint64(7)
    return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), at


@_inlined
def _copy(data: Any, at: int, length: int, into: Any, to: int) -> None:
    for index in range(length):
        into[to + index] = data[at + index]


@_compiled
def scan(
    data: Any,
    batches: Any,
    first: int,
    end: int,
    offsets: Any,
    times: Any,
    kinds: Any,
    keys: Any,
    key_ends: Any,
    key_there: Any,
    values: Any,
    value_ends: Any,
    value_there: Any,
    header_at: Any,
    header_counts: Any,
) -> int:
    """Fill the columns with the records at [first, end). Returns how many, or a negative reason.

    `keys` or `values` that are not wanted are empty, and nothing is copied there.
    """
    row = 0
    want_key, want_value = len(keys) > 0, len(values) > 0
    key_end, value_end = 0, 0
    for batch in range(len(batches)):
        at, stop = batches[batch, START], batches[batch, STOP]
        lowest, above = batches[batch, BASE], batches[batch, NEXT]
        base, base_time = batches[batch, BASE], batches[batch, BASE_TIME]
        kind = batches[batch, KIND]
        for _ in range(batches[batch, COUNT]):
            length, begin = _varint(data, at, stop)
            if begin < 0:
                return CUT
            delta, at = _varint(data, begin + 1, stop)
            if at < 0:
                return CUT
            # Checked before adding: the compiler may assume that a sum does not overflow.
            if base_time > LARGEST - delta if delta > 0 else base_time < SMALLEST - delta:
                return TOO_LATE
            time = base_time + delta
            delta, at = _varint(data, at, stop)
            if at < 0:
                return CUT
            offset = base + delta
            key_length, at = _varint(data, at, stop)
            if at < 0 or key_length > stop - at:
                return CUT
            key_at = at
            if key_length > 0:
                at += key_length
            value_length, at = _varint(data, at, stop)
            if at < 0 or value_length > stop - at:
                return CUT
            value_at = at
            if value_length > 0:
                at += value_length
            count, at = _varint(data, at, stop)
            if at < 0:
                return CUT
            if count < 0:
                return BAD_HEADERS
            headers_at = at
            for _header in range(count):
                name, at = _varint(data, at, stop)
                if at < 0 or name > stop - at:
                    return CUT
                if name < 0:
                    return BAD_HEADERS
                size, at = _varint(data, at + name, stop)
                if at < 0 or size > stop - at:
                    return CUT
                if size > 0:
                    at += size
            if at != begin + length:
                return WRONG_LENGTH
            if not lowest <= offset < above:
                return MISPLACED
            lowest = offset + 1
            if first <= offset < end:
                offsets[row] = offset
                times[row] = time if kind == 0 else batches[batch, APPEND_TIME]
                kinds[row] = kind
                key_there[row] = key_length >= 0
                value_there[row] = value_length >= 0
                if want_key and key_length > 0:
                    _copy(data, key_at, key_length, keys, key_end)
                    key_end += key_length
                if want_value and value_length > 0:
                    _copy(data, value_at, value_length, values, value_end)
                    value_end += value_length
                header_at[row] = headers_at
                header_counts[row] = count
                row += 1
                key_ends[row] = key_end
                value_ends[row] = value_end
        if at != stop:
            return LEFT_OVER
    return row


@_compiled
def scan_headers(
    data: Any,
    header_at: Any,
    header_counts: Any,
    names: Any,
    name_ends: Any,
    values: Any,
    value_ends: Any,
    value_there: Any,
) -> None:
    """The headers of the rows that `scan` found, one after the other."""
    header, name_end, value_end = 0, 0, 0
    for row in range(len(header_at)):
        at = header_at[row]
        for _ in range(header_counts[row]):
            length, at = _varint(data, at, len(data))
            _copy(data, at, length, names, name_end)
            name_end += length
            size, at = _varint(data, at + length, len(data))
            value_there[header] = size >= 0
            if size > 0:
                _copy(data, at, size, values, value_end)
                value_end += size
                at += size
            header += 1
            name_ends[header] = name_end
            value_ends[header] = value_end
