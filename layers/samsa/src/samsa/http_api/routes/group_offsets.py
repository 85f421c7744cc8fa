"""A group's offsets: set or delete them."""

from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from samsa.http_api.bodies import MOST_VALUES, route_with
from samsa.http_api.described import refusals
from samsa.http_api.kafka_client import Asked, KafkaClient, check
from samsa.http_api.lag import EARLIEST, LATEST, committed, offsets_at
from samsa.http_api.parameters import INT32_MAX, INT64_MAX, GroupId, StrictBody, examples
from samsa.http_api.problems import RequestFailed
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.group_offsets import LAST_BY_NAME, Where, commit_request
from samsa.wire.messages import offset_delete

router = APIRouter(tags=["groups"], route_class=route_with(MOST_VALUES))
Number: TypeAlias = Annotated[int, Field(ge=0, le=INT32_MAX)]


class ToOffset(StrictBody):
    offset: int = Field(ge=0, le=INT64_MAX, description="This offset")


class ToTime(StrictBody):
    timestamp: int = Field(
        ge=0, le=INT64_MAX, description="The first record from then on; milliseconds since 1970"
    )


class Shift(StrictBody):
    shift: int = Field(
        ge=-INT64_MAX, le=INT64_MAX, description="So many on, or back if it is negative"
    )


To: TypeAlias = Literal["earliest", "latest"] | ToOffset | ToTime | Shift


class Chosen(StrictBody):
    topic: str = Field(examples=["orders"])
    partitions: list[Number] | None = Field(
        default=None, min_length=1, description="All, if left out"
    )


class Reset(StrictBody):
    model_config = examples(
        {"to": "earliest", "topics": [{"topic": "orders"}]},
        {"to": {"offset": 1}, "topics": [{"topic": "orders", "partitions": [0]}]},
        {"to": {"timestamp": 1767225600000}},
        {"to": {"shift": -10}, "dry_run": True},
    )
    to: To
    topics: list[Chosen] | None = Field(
        default=None, description="All that the group has committed, if left out"
    )
    dry_run: bool = Field(default=False, description="Say what would be done, and do nothing")


class Moved(BaseModel):
    topic: str = Field(examples=["orders"])
    partition: int = Field(examples=[0])
    before: int | None = Field(examples=[40])
    after: int = Field(description="Never outside of the log", examples=[0])


class Resets(BaseModel):
    group: str = Field(examples=["billing"])
    dry_run: bool
    offsets: list[Moved]


@router.post(
    "/groups/{group}/offsets",
    summary="Reset offsets",
    responses=refusals(400, 404, 409, 413, 415),
)
async def reset_offsets(group: GroupId, reset: Reset, kafka: Asked) -> Resets:
    """Set the offsets from which a group goes on, as `samsa groups reset-offsets` does. The group
    must have no members; it need not exist."""
    before = await committed(group, kafka)
    after = await wanted(group, reset, before, kafka)
    if not reset.dry_run:
        await commit(group, after, kafka)
    return Resets(
        group=group,
        dry_run=reset.dry_run,
        offsets=[
            Moved(topic=topic, partition=number, before=before.get((topic, number)), after=offset)
            for (topic, number), offset in sorted(after.items())
        ],
    )


@router.delete(
    "/groups/{group}/offsets",
    status_code=204,
    summary="Forget offsets",
    responses=refusals(404, 409),
)
async def delete_offsets(
    group: GroupId,
    kafka: Asked,
    topic: Annotated[str, Query(description="Of this topic", examples=["orders"])],
    partition: Annotated[
        int | None, Query(ge=0, le=INT32_MAX, description="Of this partition; of all if left out")
    ] = None,
) -> None:
    """No member may subscribe to the topic. What was never committed is no error."""
    numbers = [partition] if partition is not None else range((await kafka.topic(topic)).partitions)
    rows = [offset_delete.PARTITION(partition_index=number) for number in numbers]
    row = offset_delete.REQUEST(
        group_id=group, topics=[offset_delete.TOPIC(name=topic, partitions=rows)]
    )
    answer = await kafka.ask(ApiKey.OFFSET_DELETE, row)
    check(answer.error_code, None, f"group {group!r}")
    for entry in answer.topics[0].partitions:
        check(entry.error_code, None, f"{topic}/{entry.partition_index}")


async def wanted(
    group: str, reset: Reset, before: dict[Where, int], kafka: KafkaClient
) -> dict[Where, int]:
    """The new offsets, none of them outside of its log."""
    found: dict[Where, int] = {}
    for topic, numbers in (await _chosen(group, reset, before, kafka)).items():
        first = await offsets_at(topic, numbers, EARLIEST, kafka)
        last = await offsets_at(topic, numbers, LATEST, kafka)
        targets = await _targets(topic, numbers, reset, before, kafka)
        for number in numbers:
            target = last[number] if targets[number] < 0 else targets[number]
            found[topic, number] = min(max(target, first[number]), last[number])
    return found


async def _chosen(
    group: str, reset: Reset, before: dict[Where, int], kafka: KafkaClient
) -> dict[str, list[int]]:
    if reset.topics is not None:
        return {
            each.topic: each.partitions or list(range((await kafka.topic(each.topic)).partitions))
            for each in reset.topics
        }
    if not before:
        raise RequestFailed(
            404,
            "Nothing committed",
            f"group {group!r} has committed nothing",
            "Name the topics to set offsets for.",
        )
    found: dict[str, list[int]] = {}
    for topic, number in before:
        found.setdefault(topic, []).append(number)
    return found


async def _targets(
    topic: str, numbers: list[int], reset: Reset, before: dict[Where, int], kafka: KafkaClient
) -> dict[int, int]:
    if isinstance(reset.to, ToOffset):
        return dict.fromkeys(numbers, reset.to.offset)
    if isinstance(reset.to, ToTime):
        return await offsets_at(topic, numbers, reset.to.timestamp, kafka)
    if isinstance(reset.to, Shift):
        return _shifted(topic, numbers, reset.to.shift, before)
    return await offsets_at(topic, numbers, EARLIEST if reset.to == "earliest" else LATEST, kafka)


def _shifted(
    topic: str, numbers: list[int], shift: int, before: dict[Where, int]
) -> dict[int, int]:
    missing = [number for number in numbers if (topic, number) not in before]
    if missing:
        raise RequestFailed(
            409,
            "Nothing to shift",
            f"{topic}/{missing[0]} has no offset that could be shifted",
            "Shift what GET /groups/{group} shows as committed, or set an offset.",
        )
    return {number: max(0, before[topic, number] + shift) for number in numbers}


async def commit(group: str, offsets: dict[Where, int], kafka: KafkaClient) -> None:
    row = commit_request(group, offsets)
    for answered in (await kafka.ask(ApiKey.OFFSET_COMMIT, row, LAST_BY_NAME)).topics:
        for entry in answered.partitions:
            in_use = entry.error_code == ErrorCode.UNKNOWN_MEMBER_ID
            why = f"group {group!r} has members" if in_use else None
            check(entry.error_code, why, f"{answered.name}/{entry.partition_index}")
