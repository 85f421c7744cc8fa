"""The cluster: whether it is well, and what it is."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from samsa import __version__
from samsa.http_api.described import refusals
from samsa.http_api.kafka_client import Asked, check
from samsa.wire.apis import ApiKey
from samsa.wire.messages import describe_cluster

router = APIRouter(tags=["cluster"])


class Health(BaseModel):
    status: Literal["ok"]
    ledger: Literal["ok"]
    objects: Literal["ok"]
    version: str = Field(examples=[__version__])


class BrokerNode(BaseModel):
    id: int = Field(examples=[0])
    host: str = Field(examples=["127.0.0.1"])
    port: int = Field(examples=[9092])
    zone: str | None = Field(description="`--zone` of the process", examples=["eu-central-1a"])


class Cluster(BaseModel):
    cluster_id: str = Field(examples=["kO1wBvZyTH6uRkVxsWqe2w"])
    version: str = Field(examples=[__version__])
    default_partitions: int = Field(examples=[1])
    auto_create_topics: bool
    brokers: list[BrokerNode] = Field(
        description="Where Kafka clients come; none where only a shim leads in"
    )


@router.get("/health", summary="Whether it is well", responses=refusals())
async def health(kafka: Asked) -> Health:
    """Both stores were asked something just now, and knew the answer; else 503 says which did
    not."""
    await kafka.check_health()
    return Health(status="ok", ledger="ok", objects="ok", version=__version__)


@router.get("/cluster", summary="What it is", responses=refusals())
async def cluster(kafka: Asked) -> Cluster:
    rules = await kafka.rules()
    answer = await kafka.ask(ApiKey.DESCRIBE_CLUSTER, describe_cluster.REQUEST())
    check(answer.error_code, answer.error_message, "cluster")
    return Cluster(
        cluster_id=rules.cluster_id,
        version=__version__,
        default_partitions=rules.default_partitions,
        auto_create_topics=rules.auto_create_topics,
        brokers=[
            BrokerNode(id=each.broker_id, host=each.host, port=each.port, zone=each.rack)
            for each in answer.brokers
            if kafka.address is not None
        ],
    )
