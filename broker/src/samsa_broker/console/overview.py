"""The overview: what this cluster is, and how it is doing."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from samsa import __version__
from samsa.http_api.kafka_client import Asked, KafkaClient, check
from samsa.topics.permitted import visible
from samsa.wire.apis import ApiKey
from samsa.wire.messages import describe_cluster

from .decoding import has_registry
from .rights import sees_group, sees_lag, sees_process
from .sampler import Rates
from .state import API, Console, OnConsole, answer

router = APIRouter(prefix=API, include_in_schema=False)
MOST_BEHIND = 20


@router.get("/overview")
async def overview(kafka: Asked, console: OnConsole) -> Response:
    """Counts may be ten seconds old, that of groups a minute."""
    cluster = await kafka.ask(ApiKey.DESCRIBE_CLUSTER, describe_cluster.REQUEST())
    check(cluster.error_code, cluster.error_message, "cluster")
    rules = await kafka.rules()
    brokers = [
        {"id": each.broker_id, "host": each.host, "port": each.port, "zone": each.rack}
        for each in cluster.brokers
    ]
    told = {
        "cluster_id": rules.cluster_id,
        "version": __version__,
        "now_ms": kafka.now_ms(),
        "brokers": brokers,
        **await _counts(kafka, console),
        **_process(kafka, console),
        "features": features(console),
    }
    return await answer(console, told)


async def _counts(kafka: KafkaClient, console: Console) -> dict[str, Any]:
    sampler = console.sampler
    listed = sampler.listed_topics
    topics = (
        await kafka.topics()
        if listed is None
        else await visible(list(listed), kafka.session.access, kafka.work)
    )
    sees_all = sees_process(kafka)
    groups = [str(group.group_id) for group in sampler.listed_groups]
    if not sees_all:
        groups = [each async for each in kafka.work.pace(groups) if sees_group(kafka, each)]
    wanted, seen = set(groups), sampler.groups.seen
    behind = [
        (name, lag)
        for name, lag in sampler.behind(len(seen))
        if name in wanted and sees_lag(kafka, seen[name])
    ]
    return {
        "topics": len(topics),
        "partitions": sum(topic.partitions for topic in topics),
        "groups": len(groups),
        "groups_behind": [{"group": name, "lag": lag} for name, lag in behind[:MOST_BEHIND]],
    }


def _process(kafka: KafkaClient, console: Console) -> dict[str, Any]:
    """Null to those who may not describe the cluster, and where a broker does not tell it."""
    inside, sampler, shown = console.inside, console.sampler, sees_process(kafka)
    rates = sampler.rates() if shown else Rates()
    is_inside = inside is not None and shown
    return {
        "uptime_s": inside.uptime_s if inside is not None and shown else None,
        "connections": inside.connections if inside is not None and shown else None,
        "rates": rates._asdict(),
        "storage_bytes": sampler.storage if shown else None,
        "open_transactions": inside.open_transactions if inside is not None and is_inside else None,
    }


def features(console: Console) -> dict[str, bool]:
    inside = console.inside
    return {
        "schemas": has_registry(console.served),
        "security": inside is None or inside.has_security,
        "transactions": True,
        "history": True,
        "cost": inside is not None,
        "log": inside is not None,
        "process": inside is not None,
    }
