"""Partitions: show where they begin and end, add some, and delete records."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from samsa.http_api.bodies import MOST_VALUES, route_with
from samsa.http_api.described import refusals
from samsa.http_api.kafka_client import Asked, KafkaClient, check
from samsa.http_api.parameters import (
    INT32_MAX,
    INT64_MAX,
    PartitionNumber,
    StrictBody,
    TopicName,
    examples,
)
from samsa.ports import Topic
from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_partitions, delete_records

from .topics import TIMEOUT_MS, ListedTopic

router = APIRouter(tags=["partitions"], route_class=route_with(MOST_VALUES))
UP_TO_THE_END = -1


class DescribedPartition(BaseModel):
    partition: int = Field(examples=[0])
    start: int = Field(description="The first offset that can be read", examples=[0])
    end: int = Field(description="The offset after the last", examples=[42])
    size: int = Field(description="Bytes of its batches", examples=[1337])


class Partitions(BaseModel):
    topic: str = Field(examples=["orders"])
    count: int = Field(description="Of all", examples=[1])
    partitions: list[DescribedPartition]


class Wider(StrictBody):
    model_config = examples({"count": 6})
    count: int = Field(ge=1, le=INT32_MAX, description="How many there shall be, in all")
    validate_only: bool = Field(default=False, description="Check it, and change nothing")


class Start(BaseModel):
    topic: str = Field(examples=["orders"])
    partition: int = Field(examples=[0])
    start: int = Field(description="Where the log begins now", examples=[10])


First = Annotated[int, Query(ge=0, le=INT32_MAX, description="Begin with this partition")]
Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many")]
Before = Annotated[
    Annotated[int, Field(ge=0, le=INT64_MAX)] | Literal["end"],
    Query(description="Keep what is at this offset and after it; `end` keeps nothing"),
]


@router.get("/topics/{topic}/partitions", summary="Describe partitions", responses=refusals(404))
async def list_partitions(
    topic: TopicName, kafka: Asked, first: First = 0, limit: Limit = 100
) -> Partitions:
    found = await kafka.topic(topic)
    numbers = range(found.partitions)[first : first + limit]
    described = await _described(found, numbers, kafka)
    return Partitions(topic=found.name, count=found.partitions, partitions=described)


@router.get(
    "/topics/{topic}/partitions/{partition}",
    summary="Describe a partition",
    responses=refusals(404),
)
async def describe_partition(
    topic: TopicName, partition: PartitionNumber, kafka: Asked
) -> DescribedPartition:
    await kafka.partition(topic, partition)
    (described,) = await _described(await kafka.topic(topic), [partition], kafka)
    return described


@router.post(
    "/topics/{topic}/partitions", summary="Add partitions", responses=refusals(400, 404, 413, 415)
)
async def add_partitions(topic: TopicName, wider: Wider, kafka: Asked) -> ListedTopic:
    """There can be more of them, never fewer. A key may go to another partition from then on."""
    found = await kafka.topic(topic)
    asked = create_partitions.TOPIC(name=topic, count=wider.count, assignments=None)
    row = create_partitions.REQUEST(
        topics=[asked], timeout_ms=TIMEOUT_MS, validate_only=wider.validate_only
    )
    answer = (await kafka.ask(ApiKey.CREATE_PARTITIONS, row)).results[0]
    check(answer.error_code, answer.error_message, f"topic {topic!r}")
    return ListedTopic(name=topic, id=found.id, partitions=wider.count)


@router.delete(
    "/topics/{topic}/partitions/{partition}/records",
    summary="Delete old records",
    responses=refusals(404, 416),
)
async def delete_old_records(
    topic: TopicName, partition: PartitionNumber, before: Before, kafka: Asked
) -> Start:
    """Records below the offset cannot be read from now on. Offsets do not change."""
    await kafka.partition(topic, partition)
    offset = UP_TO_THE_END if before == "end" else before
    entry = delete_records.PARTITION(partition_index=partition, offset=offset)
    row: Any = delete_records.REQUEST(
        topics=[delete_records.TOPIC(name=topic, partitions=[entry])], timeout_ms=TIMEOUT_MS
    )
    moved = (await kafka.ask(ApiKey.DELETE_RECORDS, row)).topics[0].partitions[0]
    check(moved.error_code, None, f"{topic}/{partition} before {before}")
    return Start(topic=topic, partition=partition, start=moved.low_watermark)


async def _described(
    topic: Topic, numbers: Sequence[int], kafka: KafkaClient
) -> list[DescribedPartition]:
    bounds, sizes = await asyncio.gather(kafka.bounds(topic, numbers), kafka.sizes(topic, numbers))
    return [
        DescribedPartition(
            partition=number, start=bounds[number].start, end=bounds[number].end, size=sizes[number]
        )
        for number in numbers
    ]
