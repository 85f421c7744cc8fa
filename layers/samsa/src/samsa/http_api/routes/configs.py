"""Configs: list them with the sources of their values, and change those of a topic."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from samsa.handlers.k44_incremental_alter_configs import ConfigOperation
from samsa.http_api.bodies import MOST_VALUES, route_with
from samsa.http_api.described import refusals
from samsa.http_api.kafka_client import Asked, KafkaClient, check
from samsa.http_api.parameters import StrictBody, TopicName, examples
from samsa.topics.broker_configs import DEFAULTS
from samsa.topics.config_kinds import ConfigType
from samsa.topics.resources import ConfigResourceType, Source
from samsa.topics.topic_configs import TOPIC_CONFIGS
from samsa.wire.apis import ApiKey
from samsa.wire.messages import describe_configs, incremental_alter_configs

from .topics import ConfigValue, told

router = APIRouter(tags=["configs"], route_class=route_with(MOST_VALUES))

SOURCES = {each.value: each.name.lower() for each in Source} | {2: "broker", 3: "broker"}
"""2 and 3 are configs of Kafka's brokers that were changed while they run."""
TYPES = {each.value: each.name.lower() for each in ConfigType}
NO_DEFAULT = (None, None)
"""Of a config that only another broker has."""


class Config(BaseModel):
    name: str = Field(examples=["retention.ms"])
    value: str | None = Field(examples=["604800000"])
    source: str = Field(description="topic, broker or default", examples=["default"])
    default: str | None = Field(examples=["604800000"])
    type: str = Field(examples=["long"])
    read_only: bool
    about: str = Field(description="What it does here", examples=["How long a record is kept."])


class Configs(BaseModel):
    configs: list[Config]


class Changes(StrictBody):
    model_config = examples({"configs": {"retention.ms": "3600000", "max.message.bytes": None}})
    configs: dict[str, ConfigValue | None] = Field(
        description="By name; null goes back to the default", min_length=1
    )
    validate_only: bool = Field(default=False, description="Check it, and change nothing")


@router.get("/topics/{topic}/configs", summary="A topic's configs", responses=refusals(404))
async def topic_configs(topic: TopicName, kafka: Asked) -> Configs:
    """Every config that Kafka knows, with its own value or the default. `about` says which of them
    change nothing here."""
    return await _of_topic(topic, kafka)


@router.patch(
    "/topics/{topic}/configs",
    summary="Change a topic's configs",
    responses=refusals(400, 404, 413, 415),
)
async def alter_topic_configs(topic: TopicName, changes: Changes, kafka: Asked) -> Configs:
    """All of the changes or none. Every process of the cluster honours them within a second."""
    await kafka.topic(topic)
    resource = incremental_alter_configs.RESOURCE(
        resource_type=ConfigResourceType.TOPIC,
        resource_name=topic,
        configs=[_change(name, value) for name, value in changes.configs.items()],
    )
    row = incremental_alter_configs.REQUEST(
        resources=[resource], validate_only=changes.validate_only
    )
    answer = (await kafka.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, row)).responses[0]
    check(answer.error_code, answer.error_message, f"topic {topic!r}")
    return await _of_topic(topic, kafka)


@router.get("/cluster/configs", summary="The broker's configs", responses=refusals())
async def broker_configs(kafka: Asked) -> Configs:
    """Under Kafka's names; none of them can be changed by a client."""
    own = (await kafka.rules()).node
    found = await _asked(ConfigResourceType.BROKER, str(own), kafka)
    return Configs(configs=[_config(row, DEFAULTS.get(row.name, NO_DEFAULT)[1]) for row in found])


def _change(name: str, value: ConfigValue | None) -> Any:
    operation = ConfigOperation.DELETE if value is None else ConfigOperation.SET
    return incremental_alter_configs.CONFIG(
        name=name, config_operation=operation, value=None if value is None else told(value)
    )


async def _of_topic(topic: str, kafka: KafkaClient) -> Configs:
    found = await _asked(ConfigResourceType.TOPIC, topic, kafka)
    known = {row.name: TOPIC_CONFIGS.get(row.name) for row in found}
    return Configs(
        configs=[_config(row, each.default if (each := known[row.name]) else None) for row in found]
    )


async def _asked(kind: ConfigResourceType, name: str, kafka: KafkaClient) -> list[Any]:
    resource = describe_configs.RESOURCE(
        resource_type=kind, resource_name=name, configuration_keys=None
    )
    row = describe_configs.REQUEST(resources=[resource], include_documentation=True)
    answer = (await kafka.ask(ApiKey.DESCRIBE_CONFIGS, row)).results[0]
    check(answer.error_code, answer.error_message, name)
    found: list[Any] = answer.configs
    return found


def _config(row: Any, default: str | None) -> Config:
    return Config(
        name=row.name,
        value=row.value,
        source=SOURCES.get(row.config_source, "default"),
        default=default,
        type=TYPES.get(row.config_type, "string"),
        read_only=row.read_only,
        about=row.documentation or "",
    )
