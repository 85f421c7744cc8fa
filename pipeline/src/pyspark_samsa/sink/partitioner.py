"""Which partition a row goes to: as Java's producer chooses, for many rows at once.

A key goes where murmur2 of its bytes says, which is the same for every client with Java's default
partitioner. Rows without a key stay together for a while, and then go to the next partition.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samsa.http_api.partitioner import murmur2

SEED, M = np.uint32(0x9747B28C), np.uint32(0x5BD1E995)
POSITIVE = np.uint32(0x7FFFFFFF)
LONG = 512
"""Longer keys are hashed one by one: otherwise all keys of a batch would take as long as the
longest."""
STICK_BYTES = 16 * 1024
"""As Java's batch.size."""

Numbers: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint32]


def hashes(keys: pa.Array) -> Hashes:
    """murmur2 of each key (`large_binary`); not defined for rows without a key."""
    data, starts, lengths = _laid_out(keys)
    found = SEED ^ lengths.astype(np.uint32)
    words = np.where(lengths > LONG, 0, lengths // 4)
    for number in range(int(words.max(initial=0))):
        rows = np.flatnonzero(words > number)
        found[rows] = found[rows] * M ^ _mixed(_word(data, starts[rows] + 4 * number))
    found = _finished(found, data, starts + 4 * words, lengths % 4)
    for row in np.flatnonzero(lengths > LONG):
        found[row] = murmur2(data[starts[row] : starts[row] + lengths[row]].tobytes())
    return found


def by_key(keys: pa.Array, partitions: int) -> Numbers:
    return ((hashes(keys) & POSITIVE) % np.uint32(partitions)).astype(np.int64)


class Sticking:
    """For rows without a key."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._bytes = 0

    def numbers(self, sizes: Numbers) -> Numbers:
        """Numbers that the caller takes modulo the number of partitions."""
        passed = self._bytes + np.cumsum(sizes)
        self._bytes = int(passed[-1]) if len(passed) else self._bytes
        numbers: Numbers = self._first + (passed - sizes) // STICK_BYTES
        return numbers


def sizes(values: pa.Array) -> Numbers:
    """Of each value, of `large_binary`, as it counts for sticking: an empty one takes room too."""
    return _laid_out(values)[2] + 1


def _laid_out(keys: pa.Array) -> tuple[npt.NDArray[np.uint8], Numbers, Numbers]:
    """All bytes, and where each key starts and how long it is."""
    _, offsets, data = keys.buffers()
    ends = np.frombuffer(offsets, np.int64)[keys.offset : keys.offset + len(keys) + 1]
    everything = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return everything, ends[:-1], np.diff(ends)


def _word(data: npt.NDArray[np.uint8], at: Numbers) -> Hashes:
    found = np.zeros(len(at), np.uint32)
    for byte in range(4):
        found |= data[at + byte].astype(np.uint32) << np.uint32(8 * byte)
    return found


def _mixed(words: Hashes) -> Hashes:
    words = words * M
    return (words ^ words >> np.uint32(24)) * M


def _finished(
    found: Hashes, data: npt.NDArray[np.uint8], tails: Numbers, lengths: Numbers
) -> Hashes:
    for byte in range(3):
        rows = np.flatnonzero(lengths > byte)
        found[rows] ^= data[tails[rows] + byte].astype(np.uint32) << np.uint32(8 * byte)
    found = np.where(lengths > 0, found * M, found)
    found = (found ^ found >> np.uint32(13)) * M
    return found ^ found >> np.uint32(15)
