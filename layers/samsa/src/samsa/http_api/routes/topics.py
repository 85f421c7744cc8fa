"""Topics: list, make, describe, delete."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from samsa.http_api.bodies import MOST_VALUES, route_with
from samsa.http_api.described import refusals
from samsa.http_api.kafka_client import Asked, check
from samsa.http_api.listing import listed
from samsa.http_api.parameters import INT32_MAX, NAME_SCHEMA, StrictBody, TopicName, examples
from samsa.ports import Topic
from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_topics, delete_topics

router = APIRouter(tags=["topics"], route_class=route_with(MOST_VALUES))
BROKERS_DEFAULT = -1
TIMEOUT_MS = 20_000
"""For brokers that need a while to change their cluster."""
ConfigValue = str | int | bool


class ListedTopic(BaseModel):
    name: str = Field(examples=["orders"])
    id: UUID
    partitions: int = Field(examples=[3])


class Topics(BaseModel):
    topics: list[ListedTopic]


class NewTopic(StrictBody):
    model_config = examples(
        {"name": "payments", "partitions": 3, "configs": {"retention.ms": "86400000"}}
    )
    name: str = Field(json_schema_extra=NAME_SCHEMA)
    partitions: int | None = Field(
        default=None, ge=1, le=INT32_MAX, description="The broker's default, if left out"
    )
    configs: dict[str, ConfigValue] = Field(
        default={}, description="See GET /topics/{topic}/configs"
    )
    validate_only: bool = Field(default=False, description="Check it, and make nothing")


class DescribedTopic(ListedTopic):
    created_at: int = Field(description="Milliseconds since 1970", examples=[1794854777000])
    configs: dict[str, str] = Field(
        description="Its own; GET /topics/{topic}/configs has all", examples=[{"retention.ms": "1"}]
    )


@router.get("/topics", summary="List topics", response_model=Topics, responses=refusals())
async def list_topics(kafka: Asked) -> Response:
    """Every topic, by name."""
    found = sorted(await kafka.topics(), key=lambda topic: topic.name)
    rows = (
        {"name": each.name, "id": str(each.id), "partitions": each.partitions} for each in found
    )
    return await listed("topics", rows, kafka.work)


@router.post(
    "/topics",
    status_code=201,
    summary="Make a topic",
    responses={
        **refusals(400, 409, 413, 415),
        200: {"model": ListedTopic, "description": "It could be made (`validate_only`)."},
    },
)
async def create_topic(new: NewTopic, kafka: Asked, response: Response) -> ListedTopic:
    """It is there, and usable, when the answer comes."""
    asked = create_topics.TOPIC(
        name=new.name,
        num_partitions=new.partitions if new.partitions is not None else BROKERS_DEFAULT,
        replication_factor=BROKERS_DEFAULT,
        configs=[create_topics.CONFIG(name=n, value=told(v)) for n, v in new.configs.items()],
    )
    row = create_topics.REQUEST(
        topics=[asked], timeout_ms=TIMEOUT_MS, validate_only=new.validate_only
    )
    made = (await kafka.ask(ApiKey.CREATE_TOPICS, row)).topics[0]
    check(made.error_code, made.error_message, f"topic {new.name!r}")
    if new.validate_only:
        response.status_code = 200
    else:
        response.headers["Location"] = f"/topics/{made.name}"
    return ListedTopic(name=made.name, id=made.topic_id, partitions=made.num_partitions)


@router.get("/topics/{topic}", summary="Describe a topic", responses=refusals(404))
async def describe_topic(topic: TopicName, kafka: Asked) -> DescribedTopic:
    return _described(await kafka.topic(topic))


@router.delete(
    "/topics/{topic}", status_code=204, summary="Delete a topic", responses=refusals(404)
)
async def delete_topic(topic: TopicName, kafka: Asked) -> None:
    """With all that is in it, and what groups have committed for it. The name is free at once."""
    await kafka.topic(topic)
    row: Any = delete_topics.REQUEST(
        topics=[delete_topics.TOPIC(name=topic)], timeout_ms=TIMEOUT_MS
    )
    gone = (await kafka.ask(ApiKey.DELETE_TOPICS, row)).responses[0]
    check(gone.error_code, gone.error_message, f"topic {topic!r}")


def told(value: ConfigValue) -> str:
    """The value in the form that Kafka's configs have."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _described(topic: Topic) -> DescribedTopic:
    return DescribedTopic(
        name=topic.name,
        id=topic.id,
        partitions=topic.partitions,
        created_at=topic.created_at,
        configs=dict(topic.configs),
    )
