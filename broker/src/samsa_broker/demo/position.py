"""A truck's position, in two forms: JSON, and Avro with the fingerprint of its schema.

Avro is the *single-object encoding* of its specification: two bytes that begin no text, the
fingerprint of the schema, then the fields. So a reader can tell both forms apart, and one schema
from another, without a registry.
"""

import json
import struct
from datetime import UTC, datetime
from typing import NamedTuple

from samsa.records.varint import varint

SCHEMA = {
    "type": "record",
    "name": "Position",
    "namespace": "samsa_broker.demo",
    "fields": [
        {"name": "truck_id", "type": "string"},
        {"name": "event_timestamp", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "latitude", "type": "double"},
        {"name": "longitude", "type": "double"},
        {"name": "speed_kmh", "type": "double"},
        {"name": "heading", "type": "double"},
    ],
}
CANONICAL = (
    '{"name":"samsa_broker.demo.Position","type":"record","fields":['
    '{"name":"truck_id","type":"string"},{"name":"event_timestamp","type":"long"},'
    '{"name":"latitude","type":"double"},{"name":"longitude","type":"double"},'
    '{"name":"speed_kmh","type":"double"},{"name":"heading","type":"double"}]}'
)
"""The schema without what does not change the bytes: the input of the fingerprint."""
EMPTY = 0xC15D213AA4D7A795


class TruckPosition(NamedTuple):
    truck_id: str
    event_timestamp: int
    """Milliseconds since 1970."""
    latitude: float
    longitude: float
    speed_kmh: float
    heading: float
    """Degrees from north, clockwise."""


def fingerprint(text: bytes) -> bytes:
    """CRC-64-AVRO, as single objects carry it."""
    crc = EMPTY
    for byte in text:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (EMPTY if crc & 1 else 0)
    return struct.pack("<Q", crc)


MARKER = b"\xc3\x01"
HEAD = MARKER + fingerprint(CANONICAL.encode())


def to_json(position: TruckPosition) -> bytes:
    fields = position._asdict() | {"event_timestamp": iso(position.event_timestamp)}
    return json.dumps(fields, separators=(",", ":")).encode()


def to_avro(position: TruckPosition) -> bytes:
    name = position.truck_id.encode()
    numbers = struct.pack("<4d", *position[2:])
    return b"".join((HEAD, varint(len(name)), name, varint(position.event_timestamp), numbers))


def iso(ms: int) -> str:
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"
