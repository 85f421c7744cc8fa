"""Reads records: from an offset or a time on, or a single one, as JSON or as raw bytes."""

import json
from collections.abc import Generator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from samsa.http_api.by_schema import Showing, schemas_of
from samsa.http_api.content import Encoding, Shown, shown
from samsa.http_api.described import refusals
from samsa.http_api.kafka_client import Asked, KafkaClient
from samsa.http_api.lag import LATEST, offsets_at
from samsa.http_api.parameters import INT64_MAX, Offset, PartitionNumber, TopicName
from samsa.http_api.problems import RequestFailed
from samsa.http_api.reading import FoundRecords, OffsetSpan, read
from samsa.records.record import Record

router = APIRouter(
    prefix="/topics/{topic}/partitions/{partition}/records",
    tags=["records"],
    responses=refusals(404, 416),
)
MOST_BYTES = 4 * 1024 * 1024
"""In base64 they still fit into a function's answer."""
BINARY = "application/octet-stream"


class ShownHeader(BaseModel):
    name: str = Field(examples=["trace"])
    value: Shown | None


class ShownRecord(BaseModel):
    offset: int = Field(examples=[41])
    timestamp: int = Field(description="Milliseconds since 1970", examples=[1794854777000])
    key: Shown | None
    value: Shown | None
    headers: list[ShownHeader]


class Records(BaseModel):
    topic: str = Field(examples=["orders"])
    partition: int = Field(examples=[0])
    start: int = Field(description="The log's first offset", examples=[0])
    end: int = Field(description="The offset after the log's last", examples=[42])
    next_offset: int = Field(description="Where to read on", examples=[42])
    records: list[ShownRecord]


From = Annotated[int | None, Query(ge=0, le=INT64_MAX, description="From this offset on")]
Since = Annotated[
    int | None,
    Query(ge=0, le=INT64_MAX, description="From this time on; milliseconds since 1970"),
]
Last = Annotated[
    int | None, Query(ge=1, le=INT64_MAX, description="So many offsets before the end")
]
Limit = Annotated[int, Query(ge=1, le=10_000, description="At most so many records")]
MaxBytes = Annotated[
    int,
    Query(ge=1, le=MOST_BYTES, description="Of keys, values and headers; one record always fits"),
]
WaitMs = Annotated[
    int,
    Query(ge=0, le=20_000, description="Wait so long for records at the end. Not on AWS."),
]
As = Annotated[Encoding, Query(description="How to show keys, values and headers")]


@router.get("", summary="Read records", response_model=Records)
async def read_records(
    topic: TopicName,
    partition: PartitionNumber,
    kafka: Asked,
    offset: From = None,
    timestamp: Since = None,
    last: Last = None,
    limit: Limit = 100,
    max_bytes: MaxBytes = 1024 * 1024,
    wait_ms: WaitMs = 0,
    encoding: As = Encoding.AUTO,
) -> Response:
    """From `offset` on, or from `timestamp` on, or the `last` few; from the beginning without any
    of them. `next_offset` is where to read on. Bytes that are not what `encoding` asks for come as
    text, or else as base64."""
    first = await _first(topic, partition, (offset, timestamp, last), kafka)
    found = await read(topic, partition, OffsetSpan(first, limit, max_bytes, wait_ms), kafka)
    schemas = await schemas_of(found.records, kafka) if encoding is Encoding.SCHEMA else {}
    told = await kafka.work.in_slices(_told(topic, partition, found, Showing(encoding, schemas)))
    return Response(told, media_type="application/json")


@router.get("/{offset}", summary="Read one record", response_model=ShownRecord)
async def read_record(
    topic: TopicName,
    partition: PartitionNumber,
    offset: Offset,
    kafka: Asked,
    encoding: As = Encoding.AUTO,
) -> Response:
    record = await _one(topic, partition, offset, kafka)
    schemas = await schemas_of([record], kafka) if encoding is Encoding.SCHEMA else {}
    showing = Showing(encoding, schemas)
    told = await kafka.work.in_thread(lambda: _dumped(_shown(record, showing)))
    return Response(told, media_type="application/json")


@router.get(
    "/{offset}/value",
    summary="Read one record's value as it is",
    response_class=Response,
    responses={
        200: {
            "description": "The value's bytes",
            "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}},
            "headers": {
                "Kafka-Offset": {"schema": {"type": "string"}},
                "Kafka-Timestamp": {"schema": {"type": "string"}},
            },
        },
        204: {"description": "The record has no value: it is a tombstone."},
    },
)
async def read_value(
    topic: TopicName, partition: PartitionNumber, offset: Offset, kafka: Asked
) -> Response:
    record = await _one(topic, partition, offset, kafka)
    told = {"Kafka-Offset": str(record.offset), "Kafka-Timestamp": str(record.timestamp)}
    if record.value is None:
        return Response(status_code=204, headers=told)
    return Response(record.value, headers=told, media_type=BINARY)


async def _first(
    topic: str,
    partition: int,
    asked: tuple[int | None, int | None, int | None],
    kafka: KafkaClient,
) -> int:
    offset, timestamp, last = asked
    if sum(each is not None for each in asked) > 1:
        raise RequestFailed(
            422,
            "Invalid request",
            "offset, timestamp and last exclude each other",
            "Say one of them, or none to begin at the beginning.",
        )
    await kafka.partition(topic, partition)
    if offset is not None:
        return offset
    if timestamp is not None:
        found = (await offsets_at(topic, [partition], timestamp, kafka))[partition]
        return (
            found
            if found >= 0
            else (await offsets_at(topic, [partition], LATEST, kafka))[partition]
        )
    bounds = (await kafka.bounds(await kafka.topic(topic), [partition]))[partition]
    return bounds.start if last is None else max(bounds.start, bounds.stable_end - last)


async def _one(topic: str, partition: int, offset: int, kafka: KafkaClient) -> Record:
    await kafka.partition(topic, partition)
    found = await read(topic, partition, OffsetSpan(offset, 1, 1), kafka)
    if not found.records or found.records[0].offset != offset:
        raise RequestFailed(
            404,
            "No such record",
            f"no record has offset {offset} in {topic}/{partition}",
            "GET …/records?offset= finds the next one; some offsets hold none.",
        )
    return found.records[0]


def _told(
    topic: str, partition: int, found: FoundRecords, showing: Showing
) -> Generator[None, None, bytes]:
    records: list[Any] = []
    for record in found.records:
        records.append(_shown(record, showing))
        yield
    return _dumped(
        {
            "topic": topic,
            "partition": partition,
            "start": found.start,
            "end": found.end,
            "next_offset": found.next_offset,
            "records": records,
        }
    )


def _shown(record: Record, showing: Showing) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": showing.of(record.key),
        "value": showing.of(record.value),
        "headers": [
            {"name": name, "value": shown(value, showing.encoding)}
            for name, value in record.headers
        ],
    }


def _dumped(told: dict[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
