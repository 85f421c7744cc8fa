"""The frames of a run: each follows from the seed and its number alone, and can be made again.

A frame begins as what a real client sent, or as a generated row of any API at any version, and is
then spoilt: not at all, in its bytes, or in its header, its lengths, its tags.
"""

import struct
from functools import cache
from pathlib import Path
from random import Random

from fuzz.rows import row_of

from samsa.wire.apis import APIS
from samsa.wire.frame import request_frame

GOLDEN = Path(__file__).parents[1] / "property" / "golden"
KEYS = sorted(APIS)
EDGES = (0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF)
HEADER = struct.Struct(">hhih")
LONG_VARINTS = (b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x80" * 12)
TAGS = (b"\x01\x00\x00", b"\x02\x00\x01x\x05\x00", b"\x01\xff\xff\xff\xff\x0f\x00", b"\x01\x00\x7f")
NUMBERS = (0, 1, -1, 2, 127, 128, 2**15 - 1, -(2**15), 2**31 - 1, -(2**31), 2**24)


@cache
def golden() -> list[bytes]:
    """What real clients wrote, without its size."""
    files = sorted(set(GOLDEN.glob("*.bin")) - set(GOLDEN.glob("*-response.bin")))
    return [file.read_bytes() for file in files]


def frame_of(seed: int, number: int) -> bytes:
    rng = Random(f"{seed} {number}")
    data = _begun(rng)
    for _ in range(rng.choice((0, 0, 0, 1, 1, 1, 2, 4))):
        data = rng.choice(SPOILERS)(rng, data)
    if rng.random() < 0.02:
        return struct.pack(">i", rng.choice(NUMBERS)) + data
    return struct.pack(">i", len(data)) + data


def _begun(rng: Random) -> bytes:
    if rng.random() < 0.2:
        return rng.choice(golden())
    api = APIS[rng.choice(KEYS)]
    version = rng.choice(api.versions)
    name = rng.choice(("fuzz", "fuzz", None, "", "x" * 40))
    row = row_of(rng, api.request, version)
    return request_frame(api, version, rng.randint(0, 2**31 - 1), name, row)[4:]


def _bytes(rng: Random, data: bytes) -> bytes:
    spoilt = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        if len(spoilt) > HEADER.size:
            spoilt[rng.randrange(HEADER.size, len(spoilt))] = rng.choice(EDGES)
    return bytes(spoilt)


def _bit(rng: Random, data: bytes) -> bytes:
    spoilt = bytearray(data)
    if spoilt:
        spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
    return bytes(spoilt)


def _number(rng: Random, data: bytes) -> bytes:
    """A length, a count, an index: two, four or eight bytes of it."""
    code = rng.choice([">h", ">i", ">q"])
    size = struct.calcsize(code)
    if len(data) < HEADER.size + size:
        return data
    at, bits = rng.randrange(HEADER.size, len(data) - size + 1), 8 * size
    value = (rng.choice(NUMBERS) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
    return data[:at] + struct.pack(code, value) + data[at + size :]


def _varint(rng: Random, data: bytes) -> bytes:
    at = rng.randint(min(HEADER.size, len(data)), len(data))
    return data[:at] + rng.choice(LONG_VARINTS) + data[at + rng.choice((0, 1)) :]


def _tags(rng: Random, data: bytes) -> bytes:
    """In the place of a byte that may be the count of no tags: the last, or any zero."""
    zeros = [at for at in range(HEADER.size, len(data)) if data[at] == 0] or [len(data)]
    at = rng.choice((zeros[-1], rng.choice(zeros)))
    return data[:at] + rng.choice(TAGS) + data[at + 1 :]


def _cut(rng: Random, data: bytes) -> bytes:
    return data[: rng.randint(0, len(data))]


def _twice(rng: Random, data: bytes) -> bytes:
    start = rng.randint(0, len(data))
    end = rng.randint(start, min(len(data), start + 64))
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def _left_out(rng: Random, data: bytes) -> bytes:
    start = rng.randint(0, len(data))
    return data[:start] + data[start + rng.randint(1, 16) :]


def _longer(rng: Random, data: bytes) -> bytes:
    return data + rng.randbytes(rng.choice((1, 3, 100)))


def _another_version(rng: Random, data: bytes) -> bytes:
    return data[:2] + struct.pack(">h", rng.choice((*range(20), -1, 2**15 - 1))) + data[4:]


def _another_api(rng: Random, data: bytes) -> bytes:
    key = rng.choice(KEYS) if rng.random() < 0.8 else rng.choice((-1, 4, 7, 24, 36, 999))
    return struct.pack(">h", key) + data[2:]


def _client_id(rng: Random, data: bytes) -> bytes:
    return data[:8] + struct.pack(">h", rng.choice((-1, -2, 0, 1, 2**15 - 1))) + data[10:]


def _correlation_id(rng: Random, data: bytes) -> bytes:
    return data[:4] + struct.pack(">i", rng.choice((0, -1, 2**31 - 1, -(2**31)))) + data[8:]


SPOILERS = (
    _bytes, _bytes, _bytes, _bit, _bit, _number, _number, _varint, _tags, _cut, _twice, _left_out,
    _longer, _another_version, _another_api, _client_id, _correlation_id,
)  # fmt: skip
