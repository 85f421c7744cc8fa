"""Groups: list them, describe one with its members and lag, delete one."""

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from samsa.groups.embedded import Malformed, read_assignment
from samsa.http_api.described import refusals
from samsa.http_api.kafka_client import Asked, KafkaClient, check
from samsa.http_api.lag import committed, ends_of
from samsa.http_api.listing import listed
from samsa.http_api.parameters import GroupId
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.group_offsets import Where
from samsa.wire.messages import (
    consumer_group_describe,
    delete_groups,
    describe_groups,
    list_groups,
)

router = APIRouter(tags=["groups"])


class ListedGroup(BaseModel):
    group: str = Field(examples=["billing"])
    state: str = Field(examples=["Stable"])
    type: str = Field(description="classic or consumer", examples=["classic"])


class GroupList(BaseModel):
    groups: list[ListedGroup]


class Assigned(BaseModel):
    topic: str = Field(examples=["orders"])
    partitions: list[int] = Field(examples=[[0, 1]])


class Member(BaseModel):
    member_id: str = Field(examples=["rdkafka-5b2a"])
    instance_id: str | None = Field(description="Of a static member")
    client_id: str = Field(examples=["rdkafka"])
    host: str = Field(examples=["/127.0.0.1"])
    assignment: list[Assigned]


class Position(BaseModel):
    """A partition that the group has committed, or that a member reads."""

    topic: str = Field(examples=["orders"])
    partition: int = Field(examples=[0])
    committed: int | None = Field(description="Where it goes on", examples=[40])
    end: int | None = Field(description="Null if the topic is gone", examples=[42])
    lag: int | None = Field(description="How far it is behind", examples=[2])
    member_id: str | None = Field(description="Who reads it", examples=["rdkafka-5b2a"])


class DescribedGroup(ListedGroup):
    members: list[Member]
    positions: list[Position]
    lag: int = Field(description="Of all partitions", examples=[2])


@router.get("/groups", summary="List groups", response_model=GroupList, responses=refusals())
async def list_all(kafka: Asked) -> Response:
    """Every group that has members or offsets."""
    answer = await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    check(answer.error_code, None, "groups")
    found = sorted(answer.groups, key=lambda each: str(each.group_id))
    rows = (
        {"group": each.group_id, "state": each.group_state, "type": each.group_type}
        for each in found
    )
    return await listed("groups", rows, kafka.work)


@router.get(
    "/groups/{group}",
    summary="Describe a group",
    response_model=DescribedGroup,
    responses=refusals(404),
)
async def describe_group(group: GroupId, kafka: Asked) -> Response:
    """Its members, what they read, and the lag of each partition."""
    seen, members = await seen_group(group, kafka)
    positions = await _positions(group, members, kafka)
    return await listed(
        "positions",
        (each.model_dump() for each in positions),
        kafka.work,
        **seen.model_dump(include={"group", "state", "type"}),
        members=[each.model_dump() for each in members],
        lag=sum(each.lag or 0 for each in positions),
    )


@router.delete(
    "/groups/{group}", status_code=204, summary="Delete a group", responses=refusals(404, 409)
)
async def delete_group(group: GroupId, kafka: Asked) -> None:
    """With its offsets. It must have no members."""
    row = delete_groups.REQUEST(groups_names=[group])
    answer = (await kafka.ask(ApiKey.DELETE_GROUPS, row)).results[0]
    check(answer.error_code, None, f"group {group!r}")


class SeenGroup(ListedGroup):
    assignor: str
    generation: int | None
    """None where the protocol does not tell it."""


async def seen_group(group: str, kafka: KafkaClient) -> tuple[SeenGroup, list[Member]]:
    """Finds a group of either protocol. Raises Refused."""
    if consumers := await _seen_consumers(group, kafka):
        return consumers
    classic = describe_groups.REQUEST(groups=[group])
    seen = (await kafka.ask(ApiKey.DESCRIBE_GROUPS, classic)).groups[0]
    check(seen.error_code, seen.error_message, f"group {group!r}")
    members = [_classic(each) for each in seen.members]
    found = SeenGroup(
        group=group,
        state=seen.group_state,
        type="classic",
        assignor=seen.protocol_data,
        generation=None,
    )
    return found, members


async def _seen_consumers(group: str, kafka: KafkaClient) -> tuple[SeenGroup, list[Member]] | None:
    row = consumer_group_describe.REQUEST(group_ids=[group])
    try:
        seen = (await kafka.ask(ApiKey.CONSUMER_GROUP_DESCRIBE, row)).groups[0]
    except Refused as refused:
        if refused.code is ErrorCode.UNSUPPORTED_VERSION:
            return None  # an older broker, which has no such groups
        raise
    if seen.error_code:
        return None
    found = SeenGroup(
        group=group,
        state=seen.group_state,
        type="consumer",
        assignor=seen.assignor_name,
        generation=seen.group_epoch,
    )
    return found, [_consumer(each) for each in seen.members]


def _consumer(member: Any) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=[
            Assigned(topic=each.topic_name, partitions=each.partitions)
            for each in member.assignment.topic_partitions
        ],
    )


def _classic(member: Any) -> Member:
    topics: dict[str, list[int]] = {}
    try:
        for topic, number in sorted(read_assignment(bytes(member.member_assignment))):
            topics.setdefault(topic, []).append(number)
    except Malformed:
        topics = {}  # not a consumer, or it has no assignment yet
    return Member(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=[Assigned(topic=name, partitions=numbers) for name, numbers in topics.items()],
    )


async def _positions(group: str, members: list[Member], kafka: KafkaClient) -> list[Position]:
    offsets = await committed(group, kafka)
    readers: dict[Where, str] = {
        (assigned.topic, number): member.member_id
        for member in members
        for assigned in member.assignment
        for number in assigned.partitions
    }
    ends = await ends_of({*offsets, *readers}, kafka)
    return [
        _position(where, offsets.get(where), ends[where], readers.get(where))
        for where in sorted({*offsets, *readers})
    ]


def _position(where: Where, offset: int | None, end: int | None, reader: str | None) -> Position:
    lag = None if offset is None or end is None else max(0, end - offset)
    topic, number = where
    return Position(
        topic=topic, partition=number, committed=offset, end=end, lag=lag, member_id=reader
    )
