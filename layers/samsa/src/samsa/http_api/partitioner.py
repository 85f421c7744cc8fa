"""Where a record goes that names no partition: as Kafka's own producers choose.

A key always goes to the same partition, and to the same one as by any client with Java's default
partitioner: murmur2 of its bytes. Records without a key stick together, request by request.
"""

from zlib import crc32

SEED = 0x9747B28C
M = 0x5BD1E995
MASK = 0xFFFFFFFF


def partition_for(key: bytes | None, partitions: int, word: str) -> int:
    """`word` is another one for each request."""
    if key is None:
        return crc32(word.encode()) % partitions
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """Austin Appleby's MurmurHash2, 32 bits, with the seed that Kafka gave it."""
    length = len(data)
    whole = length & ~3
    hashed = SEED ^ length
    for position in range(0, whole, 4):
        k = int.from_bytes(data[position : position + 4], "little") * M & MASK
        k = (k ^ k >> 24) * M & MASK
        hashed = (hashed * M & MASK) ^ k
    if whole < length:
        hashed = (hashed ^ int.from_bytes(data[whole:], "little")) * M & MASK
    hashed = (hashed ^ hashed >> 13) * M & MASK
    return hashed ^ hashed >> 15
