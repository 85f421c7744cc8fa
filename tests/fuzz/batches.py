"""What a Produce may carry: batches that are right, ones that lie under a right checksum, message
sets, noise."""

import struct
from random import Random

from server.message_sets import message_set

from samsa.records.batch import seal
from samsa.records.compression import Codec
from samsa.records.header import HEADER_SIZE, read_header
from samsa.records.record import Record, build

TIME = 1_700_000_000_000
EXTREMES = (0, 1, -1, 2, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), TIME)
EDGES = (0, 1, 2, 0x0E, 0x7F, 0x80, 0xFE, 0xFF)
FIELDS = {
    "attributes": "h", "last_offset_delta": "i", "base_timestamp": "q", "max_timestamp": "q",
    "producer_id": "q", "producer_epoch": "h", "base_sequence": "i", "count": "i",
}  # fmt: skip


def records(rng: Random) -> bytes:
    kind = rng.random()
    if kind < 0.35:
        return good(rng)
    if kind < 0.75:
        return lying(rng)
    if kind < 0.85:
        pairs = [(b"k", b"v"), (None, b"w")][: rng.randint(1, 2)]
        data = message_set(rng.randint(0, 1), pairs, rng.choice((Codec.NONE, Codec.SNAPPY)), TIME)
        return data if rng.random() < 0.5 else noise(rng, data)
    if kind < 0.95:
        return noise(rng, good(rng))
    return rng.choice((b"", good(rng) * 2, good(rng)[:30], rng.randbytes(80)))


def good(rng: Random) -> bytes:
    producer = {}
    if rng.random() < 0.2:
        producer = {"producer_id": rng.randint(0, 3), "producer_epoch": 0,
                    "base_sequence": rng.choice((0, 0, 1, 2**31 - 1))}  # fmt: skip
    made = [
        Record(n, TIME + n, rng.choice((b"a", b"b", None)), rng.choice((b"v", None, b"x" * 300)))
        for n in range(rng.randint(1, 5))
    ]
    return build(made, codec=rng.choice(list(Codec)), **producer)


def lying(rng: Random) -> bytes:
    """A header or records that are wrong, and a checksum that is right."""
    batch = good(rng)
    header, data = read_header(batch), batch[HEADER_SIZE:]
    if rng.random() < 0.6:
        for name in rng.sample(sorted(FIELDS), rng.randint(1, 2)):
            header = header._replace(**{name: _fitting(rng.choice(EXTREMES), FIELDS[name])})
    if rng.random() < 0.6:
        data = noise(rng, data)
    batch = bytearray(seal(header, data))
    if rng.random() < 0.1:
        struct.pack_into(">i", batch, 8, _fitting(rng.choice(EXTREMES), "i"))
    return bytes(batch)


def _fitting(number: int, code: str) -> int:
    bits = 8 * struct.calcsize(f">{code}")
    return (number + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def noise(rng: Random, data: bytes) -> bytes:
    noisy = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if noisy:
            noisy[rng.randrange(len(noisy))] = rng.choice(EDGES)
    return bytes(noisy if rng.random() < 0.8 else noisy[: rng.randint(0, len(noisy))])
