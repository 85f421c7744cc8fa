"""Groups: a page of all of them, one with its members and lags, and a reset of its offsets."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from samsa.http_api.bodies import MOST_VALUES, route_with
from samsa.http_api.kafka_client import Asked, KafkaClient, check
from samsa.http_api.lag import EARLIEST, LATEST, offsets_at
from samsa.http_api.parameters import GroupId, StrictBody
from samsa.http_api.problems import RequestFailed
from samsa.http_api.routes.group_offsets import Chosen, Number, Reset, To, commit, wanted
from samsa.http_api.routes.groups import Member, seen_group
from samsa.ports import Unavailable
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.group_offsets import LAST_BY_NAME, Where, fetch_request
from samsa.wire.messages import consumer_group_describe, describe_groups, list_groups

from .rights import sees_lag
from .sampler import EXPECTED, Sampler
from .state import API, OnConsole, answer
from .topics import Limit, Offset
from .totals import GroupTotals

router = APIRouter(
    prefix=f"{API}/groups", route_class=route_with(MOST_VALUES), include_in_schema=False
)
FRESH_MS = 10_000
MOST_LOOKED_AT = 200
EMPTY = ("empty", "dead")


@router.get("")
async def list_all(
    kafka: Asked,
    console: OnConsole,
    search: Annotated[str, Query(max_length=1_000)] = "",
    sort: Literal["lag", "name"] = "name",
    offset: Offset = 0,
    limit: Limit = 50,
) -> Response:
    """By lag: those that are furthest behind first, and those whose lag is not known yet last."""
    listed = await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    check(listed.error_code, None, "groups")
    seen = console.sampler.groups.seen
    found = await kafka.work.in_thread(_chosen, listed.groups, search, sort, seen)
    page = found[offset : offset + limit]
    names = [str(group.group_id) for group in page]
    if any(name not in seen for name in names):
        console.sampler.groups_changed()
    await _look_at(names, console.sampler, kafka)
    members = await _members(page, kafka)
    shown = {name: seen[name] for name in names if name in seen and sees_lag(kafka, seen[name])}
    rows = [_row(group, shown.get(str(group.group_id)), members) for group in page]
    return await answer(console, {"total": len(found), "groups": rows})


def _chosen(
    groups: Iterable[Any], search: str, sort: str, seen: dict[str, GroupTotals]
) -> list[Any]:
    found = sorted(
        (each for each in groups if search.lower() in each.group_id.lower()),
        key=lambda each: str(each.group_id),
    )
    if sort == "lag":
        found.sort(key=lambda each: -seen[each.group_id].lag if each.group_id in seen else 1)
    return found


async def _look_at(names: Sequence[str], sampler: Sampler, kafka: KafkaClient) -> None:
    left, now_ms = MOST_LOOKED_AT, kafka.now_ms()
    async for name in kafka.work.pace(names):
        seen = sampler.groups.seen.get(name)
        if seen is not None and 0 <= now_ms - seen.at_ms < FRESH_MS:
            continue
        left -= 1
        if left < 0:
            return
        try:
            await sampler.look_at_group(name, now_ms)
        except EXPECTED:
            continue


async def _members(groups: Sequence[Any], kafka: KafkaClient) -> dict[str, int]:
    """How many members each has."""
    ids = {
        kind: [str(each.group_id) for each in groups if (each.group_type == "consumer") == kind]
        for kind in (False, True)
    }
    found: list[Any] = []
    if ids[False]:
        row: Any = describe_groups.REQUEST(groups=ids[False])
        found += (await kafka.ask(ApiKey.DESCRIBE_GROUPS, row)).groups
    if ids[True]:
        row = consumer_group_describe.REQUEST(group_ids=ids[True])
        found += (await kafka.ask(ApiKey.CONSUMER_GROUP_DESCRIBE, row)).groups
    return {str(each.group_id): len(each.members) for each in found if not each.error_code}


def _row(group: Any, totals: GroupTotals | None, members: dict[str, int]) -> dict[str, Any]:
    name = str(group.group_id)
    return {
        "group": name,
        "type": group.group_type or "classic",
        "state": group.group_state,
        "members": members.get(name),
        "lag": totals.lag if totals else None,
        "topics": list(totals.topics) if totals else [],
    }


@router.get("/{group:path}")
async def describe(group: GroupId, kafka: Asked, console: OnConsole) -> Response:
    seen, members = await seen_group(group, kafka)
    console.sampler.groups.watch(group, kafka.now_ms())
    offsets = await _offsets(group, kafka)
    readers = {
        (each.topic, number)
        for member in members
        for each in member.assignment
        for number in each.partitions
    }
    bounds = await _bounds({*offsets, *readers}, kafka)
    told = {
        "group": group,
        "type": seen.type,
        "state": seen.state,
        "assignor": seen.assignor,
        "generation": seen.generation,
        "members": [_member(each) for each in members],
        "offsets": [
            _position(where, offsets.get(where), bounds.get(where)) for where in sorted(bounds)
        ],
    }
    return await answer(console, told)


async def _offsets(group: str, kafka: KafkaClient) -> dict[Where, tuple[int, str]]:
    """What it has committed, and the metadata beside it."""
    row = fetch_request(group)
    (found,) = (await kafka.ask(ApiKey.OFFSET_FETCH, row, LAST_BY_NAME)).groups
    check(found.error_code, None, f"group {group!r}")
    return {
        (topic.name, each.partition_index): (each.committed_offset, each.metadata or "")
        for topic in found.topics
        for each in topic.partitions
    }


async def _bounds(
    wanted: Iterable[Where], kafka: KafkaClient
) -> dict[Where, tuple[int, int] | None]:
    """Where each partition begins and ends; None if the topic is gone, or must not be seen."""
    topics: dict[str, list[int]] = {}
    for name, number in wanted:
        topics.setdefault(name, []).append(number)
    found: dict[Where, tuple[int, int] | None] = {}
    for name, numbers in topics.items():
        try:
            first = await offsets_at(name, numbers, EARLIEST, kafka)
            last = await offsets_at(name, numbers, LATEST, kafka)
        except (Refused, Unavailable):
            found |= {(name, number): None for number in numbers}
        else:
            found |= {(name, number): (first[number], last[number]) for number in numbers}
    return found


def _position(
    where: Where, offset: tuple[int, str] | None, bounds: tuple[int, int] | None
) -> dict[str, Any]:
    committed, metadata = offset or (None, None)
    start, end = bounds or (None, None)
    lag = None if committed is None or end is None else max(0, end - committed)
    return {
        "topic": where[0],
        "partition": where[1],
        "committed": committed,
        "end": end,
        "start": start,
        "lag": lag,
        "metadata": metadata,
    }


def _member(member: Member) -> dict[str, Any]:
    partitions = [
        {"topic": each.topic, "partition": number}
        for each in member.assignment
        for number in each.partitions
    ]
    return {
        "id": member.member_id,
        "client_id": member.client_id,
        "host": member.host,
        "instance_id": member.instance_id,
        "partitions": partitions,
    }


class GroupReset(StrictBody):
    topic: str
    partitions: list[Number] | None = None
    to: To
    dry_run: bool = True


@router.post("/{group:path}/reset")
async def reset(group: GroupId, given: GroupReset, kafka: Asked, console: OnConsole) -> Response:
    """Refused while the group has members, the dry run too."""
    await _check_empty(group, kafka)
    before = {where: each[0] for where, each in (await _offsets(group, kafka)).items()}
    chosen = [Chosen(topic=given.topic, partitions=given.partitions)]
    after = await wanted(group, Reset(to=given.to, topics=chosen), before, kafka)
    if not given.dry_run:
        await commit(group, after, kafka)
    ends = await offsets_at(given.topic, [number for _, number in after], LATEST, kafka)
    rows = [
        {
            "topic": topic,
            "partition": number,
            "from": before.get((topic, number)),
            "to": offset,
            "lag_after": max(0, ends[number] - offset),
        }
        for (topic, number), offset in sorted(after.items())
    ]
    return await answer(console, {"dry_run": given.dry_run, "offsets": rows})


async def _check_empty(group: str, kafka: KafkaClient) -> None:
    """A group that does not exist may be given offsets before it begins. Raises RequestFailed."""
    try:
        seen, members = await seen_group(group, kafka)
    except Refused as refused:
        if refused.code is ErrorCode.GROUP_ID_NOT_FOUND:
            return
        raise
    if members or seen.state.lower() not in EMPTY:
        raise RequestFailed(
            409,
            "Group has members",
            f"group {group!r} has members ({seen.state}): a reset would be undone by what they "
            "commit",
            "Stop the group's consumers, wait until it is empty, and ask again.",
        )
