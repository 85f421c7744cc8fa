"""Rows of any request at any version, from a seeded generator: plausible ones, so that they come
past the decoder into the handlers, with a value now and then that nobody expects."""

import uuid
from random import Random
from typing import Any

from fuzz.batches import records

from samsa.wire.schema import BOOLEAN, BYTES, FLOAT64, RECORDS, STRING, UUID, Field, Struct
from samsa.wire.types import Fixed

TOPICS = ("fuzz-plain", "fuzz-compacted", "fuzz-short", "fuzz-many")
TOPIC_ID = uuid.UUID(bytes=b"fuzz-topic-id-00")
"""Stands for the id of the first topic, which is not known before the broker has made it."""
NAMES = (
    *TOPICS,
    "fuzz-new.1",
    "fuzz_new.2",
    "",
    ".",
    "x" * 249,
    "x" * 250,
    "名",
    "__consumer_offsets",
)
GROUPS = ("fuzz-group", "fuzz-group-2", "", "g" * 300)
WORDS = (
    "consumer", "range", "uniform", "roundrobin", "cleanup.policy", "retention.ms", "compact",
    "delete", "0", "1", "-1", "9223372036854775807", "max.message.bytes", "a.*", "(", "fuzz-.*",
)  # fmt: skip
MEMBERS = ("fuzz-member", "fuzz-member-2", "", "m" * 100)
NUMBERS = (0, 0, 0, 1, 1, 2, 3, 5, 10, -1, -1, -2, 100, 1000)
EXTREMES = (2**7, 2**15 - 1, -(2**15), 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**62)
LONGEST_ARRAY = 4


def row_of(rng: Random, struct: Struct, version: int) -> Any:
    chosen = {f.name: _field(rng, f, version) for f in struct.fields if f.present(version)}
    return struct(**chosen)


def _field(rng: Random, field: Field, version: int) -> Any:
    if field.nullable(version) and rng.random() < 0.15:
        return None
    if field.tag is not None and field.default_struct is None and rng.random() < 0.5:
        return field.default
    if not field.is_array:
        return _value(rng, field, version)
    return [_value(rng, field, version) for _ in range(rng.randint(0, LONGEST_ARRAY) // 2 + 1)]


def _value(rng: Random, field: Field, version: int) -> Any:
    type_ = field.type
    if isinstance(type_, Struct):
        return row_of(rng, type_, version)
    if isinstance(type_, Fixed) and type_ not in (BOOLEAN, UUID, FLOAT64):
        return _integer(rng, type_, field.name)
    return {
        BOOLEAN: lambda: rng.random() < 0.5,
        FLOAT64: rng.random,
        UUID: lambda: rng.choice((TOPIC_ID, TOPIC_ID, uuid.UUID(int=0), uuid.UUID(int=1))),
        STRING: lambda: _text(rng, field.name),
        BYTES: lambda: _bytes(rng),
        RECORDS: lambda: records(rng),
    }[type_]()


def _integer(rng: Random, type_: Fixed, name: str) -> int:
    number = rng.choice(EXTREMES) if rng.random() < 0.06 else rng.choice(NUMBERS)
    if name in ("max_wait_ms", "timeout_ms") and rng.random() < 0.9:
        number = rng.choice((0, 1, 2))
    if name.endswith("max_bytes") and rng.random() < 0.8:
        number = 1 << rng.randint(8, 24)
    if name == "num_partitions":
        number = rng.choice((-1, 0, 1, 1, 2, 3, -5, 2**31 - 1))
    bits = 8 * type_.size
    low, high = (
        (0, 2**bits - 1) if type_.code.isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    return max(low, min(high, number))


def _text(rng: Random, name: str) -> str:
    if rng.random() < 0.1:
        return rng.choice((*WORDS, *NAMES, *GROUPS, *MEMBERS))
    if "group" in name or name in ("key", "coordinator_keys"):
        return rng.choice(GROUPS[:2])
    if "member" in name or "instance" in name:
        return rng.choice(MEMBERS[:3])
    if name in ("name", "topic", "topics", "topic_name", "topic_names", "resource_name"):
        return rng.choice(NAMES[:6])
    return rng.choice(WORDS)


SUBSCRIPTION = b"\0\1\0\0\0\1\0\x0afuzz-plain\xff\xff\xff\xff\0\0\0\0"


def _bytes(rng: Random) -> bytes:
    if rng.random() < 0.5:
        return SUBSCRIPTION
    return rng.randbytes(rng.choice((0, 1, 7, 40, 300)))
