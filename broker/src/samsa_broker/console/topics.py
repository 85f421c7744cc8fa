"""Topics: a page of all of them, and what the log of one is made of."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from samsa.http_api.kafka_client import Asked, KafkaClient
from samsa.http_api.parameters import INT32_MAX, TopicName
from samsa.log.read import OutOfRange
from samsa.ports import Partition, Topic
from samsa.topics.configs import Refused
from samsa.topics.internal import INTERNAL
from samsa.topics.resources import ConfigResourceType
from samsa.topics.topic_configs import TOPIC_CONFIGS
from samsa.wire.apis import ApiKey
from samsa.wire.messages import describe_configs

from .inside import LogParts, Part
from .sampler import EXPECTED, Sampler
from .state import API, Console, OnConsole, answer
from .totals import TopicTotals

router = APIRouter(prefix=API, include_in_schema=False)
MOST_LOOKED_AT = 2_000
"""Partitions that are looked at for one page of topics. The others have what was sampled last."""
FRESH_MS = 10_000
POLICY = "cleanup.policy"

Search = Annotated[str, Query(max_length=249)]
Offset = Annotated[int, Query(ge=0, le=INT32_MAX)]
Limit = Annotated[int, Query(ge=1, le=1_000)]
Order = Literal["asc", "desc"]


@router.get("/topics")
async def list_topics(
    kafka: Asked,
    console: OnConsole,
    search: Search = "",
    sort: Literal["name", "size", "rate"] = "name",
    order: Order = "asc",
    offset: Offset = 0,
    limit: Limit = 50,
) -> Response:
    """What is not known yet comes last, whatever the order."""
    seen = console.sampler.topics.seen
    key = {"name": _by_name, "size": _by_size(seen), "rate": _by_rate(seen)}[sort]
    topics = await kafka.topics()
    found = await kafka.work.in_thread(_chosen, topics, search, key, order == "desc")
    page = found[offset : offset + limit]
    await _look_at(page, console.sampler, kafka)
    policies = await _policies(page, console, kafka)
    rows = [_row(topic, seen.get(topic.name), policies.get(topic.name)) for topic in page]
    return await answer(console, {"total": len(found), "topics": rows})


Key = Callable[[Topic], Any]


def _by_name(topic: Topic) -> str:
    return topic.name


def _by_size(seen: dict[str, TopicTotals]) -> Key:
    return lambda topic: seen[topic.name].size if topic.name in seen else None


def _by_rate(seen: dict[str, TopicTotals]) -> Key:
    return lambda topic: seen[topic.name].bytes_per_s if topic.name in seen else None


def _chosen(topics: Sequence[Topic], search: str, key: Key, is_descending: bool) -> list[Topic]:
    wanted = search.lower()
    named = sorted((t for t in topics if wanted in t.name.lower()), key=_by_name)
    keyed = [(topic, key(topic)) for topic in named]
    known = [each for each in keyed if each[1] is not None]
    known.sort(key=lambda each: each[1], reverse=is_descending)
    return [topic for topic, _ in known] + [topic for topic, value in keyed if value is None]


async def _look_at(topics: Sequence[Topic], sampler: Sampler, kafka: KafkaClient) -> None:
    """So that a page has figures at once, also before the first round has come to its topics."""
    left, now_ms = MOST_LOOKED_AT, kafka.now_ms()
    async for topic in kafka.work.pace(topics):
        seen = sampler.topics.seen.get(topic.name)
        if seen is not None and 0 <= now_ms - seen.at_ms < FRESH_MS:
            continue
        left -= topic.partitions
        if left < 0:
            return
        try:
            await sampler.look_at_topic(topic, now_ms)
        except EXPECTED:
            continue  # deleted meanwhile, or a store is slow: the page shows what it knows


async def _policies(
    topics: Sequence[Topic], console: Console, kafka: KafkaClient
) -> dict[str, str | None]:
    default = TOPIC_CONFIGS[POLICY].default
    if console.inside is not None or not topics:
        return {topic.name: topic.configs.get(POLICY, default) for topic in topics}
    resources = [
        describe_configs.RESOURCE(
            resource_type=ConfigResourceType.TOPIC,
            resource_name=topic.name,
            configuration_keys=[POLICY],
        )
        for topic in topics
    ]
    row = describe_configs.REQUEST(resources=resources)
    found = (await kafka.ask(ApiKey.DESCRIBE_CONFIGS, row)).results
    return {each.resource_name: each.configs[0].value for each in found if each.configs}


def _row(topic: Topic, totals: TopicTotals | None, policy: str | None) -> dict[str, Any]:
    return {
        "name": topic.name,
        "id": str(topic.id),
        "partitions": topic.partitions,
        "internal": topic.name in INTERNAL,
        "records": totals.records if totals else None,
        "bytes": totals.size if totals else None,
        "rate_in": totals.bytes_per_s if totals else None,
        "cleanup_policy": policy,
    }


@router.get("/topics/{topic}/log")
async def composition(
    topic: TopicName, kafka: Asked, console: OnConsole, offset: Offset = 0, limit: Limit = 100
) -> Response:
    """Offsets that retention has dropped, or that markers take, count as records in the totals."""
    found = await kafka.topic(topic)
    console.sampler.topics.watch(topic, kafka.now_ms())
    numbers = range(found.partitions)[offset : offset + limit]
    bounds = await kafka.bounds(found, numbers)
    parts = await _parts(found, numbers, console)
    sizes = {} if parts else await _sizes(found, numbers, kafka)
    rows = [
        {
            "partition": number,
            "start": bounds[number].start,
            "end": bounds[number].end,
            "stable_end": bounds[number].stable_end,
            **(_made_of(parts[number]) if parts else _only_size(sizes.get(number))),
        }
        for number in numbers
    ]
    return await answer(console, {"total": found.partitions, "partitions": rows})


async def _sizes(topic: Topic, numbers: Sequence[int], kafka: KafkaClient) -> dict[int, int]:
    try:
        return await kafka.sizes(topic, numbers)
    except Refused:
        return {}  # this login may not ask for them


async def _parts(
    topic: Topic, numbers: Sequence[int], console: Console
) -> dict[int, LogParts | None]:
    inside = console.inside
    if inside is None:
        return {}

    async def look(number: int) -> LogParts | None:
        try:
            return await inside.parts(Partition(topic.id, number))
        except OutOfRange:
            return None  # retention was faster

    found = await console.served.work.some_at_once(numbers, look)
    return dict(zip(numbers, found, strict=True))


NOTHING = LogParts(Part(0, 0), Part(0, 0), Part(0, 0), None, None, None)


def _made_of(parts: LogParts | None) -> dict[str, Any]:
    found = parts or NOTHING
    return {
        "bytes": found.tail.size + found.extents.size + found.segments.size,
        "tail": {"entries": found.tail.pieces, "bytes": found.tail.size},
        "extents": {"count": found.extents.pieces, "bytes": found.extents.size},
        "segments": {"count": found.segments.pieces, "bytes": found.segments.size},
        "compacted_to": found.compacted_to,
        "oldest_ms": found.oldest_ms,
        "newest_ms": found.newest_ms,
    }


def _only_size(size: int | None) -> dict[str, Any]:
    names = ("tail", "extents", "segments", "compacted_to", "oldest_ms", "newest_ms")
    return {"bytes": size, **dict.fromkeys(names)}
