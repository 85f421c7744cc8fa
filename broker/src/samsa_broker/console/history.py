"""Plots: an hour of a metric, in steps of ten seconds."""

from collections.abc import Hashable, Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from samsa.http_api.kafka_client import Asked, KafkaClient
from samsa.security.kinds import ResourceType
from samsa.topics.permitted import refusal

from .positions import wrong
from .rights import sees_group, sees_process, sees_topic
from .sampler import OTHERS, PERCENTILES, Sampler
from .series import STEP_MS, Series
from .state import API, OnConsole, answer

router = APIRouter(prefix=API, include_in_schema=False)
UNITS = {
    "bytes_in": "bytes/s",
    "bytes_out": "bytes/s",
    "records_in": "records/s",
    "requests": "requests/s",
    "errors": "errors/s",
    "connections": "connections",
    "latency": "ms",
    "storage": "bytes",
    "topic_bytes_in": "bytes/s",
    "topic_size": "bytes",
    "group_lag": "records",
}
Named = list[tuple[str, Series | None]]
NOTHING = Series()


@router.get("/history")
async def history(
    kafka: Asked,
    console: OnConsole,
    metric: str,
    topic: Annotated[str | None, Query(max_length=249)] = None,
    group: Annotated[str | None, Query(max_length=32_768)] = None,
    partition: str | None = None,
) -> Response:
    """A topic or group is sampled from when it was first asked about, if it is none of the largest;
    and until ten minutes after it was last asked about."""
    if metric not in UNITS:
        raise wrong(f"metric is one of {', '.join(UNITS)}, not {metric[:100]!r}")
    now_ms, sampler = kafka.now_ms(), console.sampler
    if metric.startswith("topic_"):
        named = await _of_topic(metric, topic, sampler, kafka)
    elif metric == "group_lag":
        named = _of_group(group, partition == "all", sampler, kafka)
    else:
        named = _of_process(metric, sampler, kafka)
    series = [{"name": n, "points": (each or NOTHING).points(now_ms)} for n, each in named]
    told = {"metric": metric, "step_s": STEP_MS // 1000, "unit": UNITS[metric], "series": series}
    return await answer(console, told)


async def _of_topic(metric: str, topic: str | None, sampler: Sampler, kafka: KafkaClient) -> Named:
    if topic is None:
        raise wrong(f"{metric} is of a topic: topic=NAME")
    await kafka.topic(topic)
    sampler.topics.watch(topic, kafka.now_ms())
    found = sampler.history.find
    if metric == "topic_size":
        return [("size", found(("topic_size", topic)))]
    return [
        ("bytes", found(("topic_bytes", topic))),
        ("records", found(("topic_records", topic))),
    ]


def _of_group(group: str | None, by_partition: bool, sampler: Sampler, kafka: KafkaClient) -> Named:
    if group is None:
        raise wrong("group_lag is of a group: group=NAME")
    if not sees_group(kafka, group):
        raise refusal(ResourceType.GROUP)
    sampler.groups.watch(group, kafka.now_ms())
    kind = "group_lag_by_partition" if by_partition else "group_lag"
    keys = [name for name in sampler.history.keys_of((kind, group)) if _sees(name, kafka)]
    return [(name, sampler.history.find((kind, group, name))) for name in sorted(keys, key=_last)]


def _sees(name: str, kafka: KafkaClient) -> bool:
    """`name` is a topic, with or without a partition. The rest may be of any topic."""
    if name == OTHERS:
        return not kafka.session.access.is_limited
    return sees_topic(kafka, name.partition("/")[0])


def _last(name: str) -> tuple[bool, str]:
    return name == OTHERS, name


def _of_process(metric: str, sampler: Sampler, kafka: KafkaClient) -> Named:
    if not sees_process(kafka):
        raise refusal(ResourceType.CLUSTER)
    keys: Sequence[tuple[str, Hashable]] = [(metric, metric)]
    if metric == "latency":
        labels = [f"{kind} {p}" for kind in ("produce", "fetch") for p in PERCENTILES]
        keys = [(label, ("latency", label)) for label in labels]
    return [(name, sampler.history.find(key)) for name, key in keys]
