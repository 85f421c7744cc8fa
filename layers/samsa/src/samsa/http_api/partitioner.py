"""Chooses the partition of a record that names none, as Kafka's own producers do.

A key always goes to the same partition, and to the one that any client with Java's default
partitioner chooses: murmur2 of its bytes. Records of one request without a key stay together.
"""

from collections.abc import Generator
from zlib import crc32

SEED = 0x9747B28C
M = 0x5BD1E995
MASK = 0xFFFFFFFF
STEP = 4096


def partition_for(key: bytes | None, partitions: int, word: str) -> int:
    """`word` differs from request to request."""
    return _to_its_end(partition_in_steps(key, partitions, word))


def partition_in_steps(key: bytes | None, partitions: int, word: str) -> Generator[None, None, int]:
    """The same for keys of any length, off the event loop."""
    if key is None:
        return crc32(word.encode()) % partitions
    hashed = yield from _murmur2(key)
    return (hashed & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """Austin Appleby's MurmurHash2, 32 bits, with the seed that Kafka gave it."""
    return _to_its_end(_murmur2(data))


def _to_its_end(steps: Generator[None, None, int]) -> int:
    try:
        while True:
            next(steps)
    except StopIteration as done:
        return int(done.value)


def _murmur2(data: bytes) -> Generator[None, None, int]:
    length = len(data)
    whole = length & ~3
    hashed = SEED ^ length
    for position in range(0, whole, 4):
        if position % STEP == 0 and position:
            yield
        k = int.from_bytes(data[position : position + 4], "little") * M & MASK
        k = (k ^ k >> 24) * M & MASK
        hashed = (hashed * M & MASK) ^ k
    if whole < length:
        hashed = (hashed ^ int.from_bytes(data[whole:], "little")) * M & MASK
    hashed = (hashed ^ hashed >> 13) * M & MASK
    return hashed ^ hashed >> 15
