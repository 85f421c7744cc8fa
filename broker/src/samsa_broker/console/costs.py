"""What this process has cost so far, and what a month costs if it goes on like this.

So far: the calls to stores that this process has counted, at the prices of processes on AWS. Each
call of the ledger counts as one unit of DynamoDB, the least that it can be. A month: the load of
the last ten minutes, by `samsa cost`.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from fastapi import APIRouter
from fastapi.responses import Response

from samsa.http_api.kafka_client import Asked
from samsa.http_api.problems import RequestFailed
from samsa.security.kinds import ResourceType
from samsa.topics.permitted import refusal
from samsa_broker.cost import Load, Prices, functions, kafka, msk, processes
from samsa_broker.cost.calls import dynamodb_lines, s3_lines
from samsa_broker.cost.load import GB, HOURS

from .inside import Calls, Inside
from .rights import sees_process
from .sampler import Sampler
from .state import API, Console, OnConsole, answer

router = APIRouter(prefix=API, include_in_schema=False)
HOUR_S = 3600
WINDOW_POINTS = 60
"""Ten minutes."""
BILLS = {"functions": functions, "processes": processes, "msk_serverless": msk, "kafka_ec2": kafka}
HERE = "This process keeps its data on this machine, which costs nothing by the call. "
THERE = "This process keeps its data in DynamoDB and S3. "
NOTE = (
    "So far is what this process alone has done, at the list prices of processes on AWS "
    "(samsa cost --show-prices), a call of DynamoDB as one unit. A month has the load of the last "
    "ten minutes, as samsa cost sees it; clients are counted by their connections now."
)


@router.get("/cost")
async def cost(kafka: Asked, console: OnConsole) -> Response:
    if console.inside is None:
        raise RequestFailed(
            404,
            "Not known here",
            "only a broker itself knows what it does",
            "Open the console at the HTTP address of samsa up.",
        )
    if not sees_process(kafka):
        raise refusal(ResourceType.CLUSTER)
    now_ms = kafka.now_ms()
    return await answer(console, await kafka.work.in_thread(_told, console, now_ms))


def _told(console: Console, now_ms: int) -> dict[str, Any]:
    inside, sampler = console.inside, console.sampler
    assert inside is not None
    lines = so_far(inside.calls(), sampler.storage or 0, prices())
    rates = load_now(inside, sampler, now_ms)
    month = None if rates is None else a_month(rates, sampler, prices())
    return {
        "so_far": {
            "since_ms": now_ms - round(1000 * inside.uptime_s),
            "lines": lines,
            "dollars": sum(line["dollars"] for line in lines),
        },
        "month": month or dict.fromkeys(BILLS),
        "rates": (rates or NO_LOAD)._asdict(),
        "note": (THERE if inside.is_remote else HERE) + NOTE,
    }


class LoadNow(NamedTuple):
    messages_per_s: float | None
    bytes_per_message: float | None
    producers: int | None
    consumers: int | None


NO_LOAD = LoadNow(None, None, None, None)


def so_far(calls: Calls, storage: int, at: Prices) -> list[dict[str, Any]]:
    hours = calls.uptime_s / HOUR_S
    gigabytes = (calls.bytes_in + calls.bytes_out) / GB
    stored = storage / GB * hours / HOURS
    counts = (calls.writes, calls.reads, calls.puts, calls.gets)
    lines = [*dynamodb_lines(*counts[:2], at), *s3_lines(*counts[2:], at)]
    found = [
        *((line.what, count, line.dollars) for line, count in zip(lines, counts, strict=True)),
        ("S3 GB months", stored, at.cost("s3", "per_gb_month", stored)),
        ("GB between zones", gigabytes, at.cost("transfer", "per_gb_between_zones", gigabytes)),
        ("machine hours", hours, at.cost("ec2", "per_instance_hour", hours)),
    ]
    return [{"what": what, "count": count, "dollars": dollars} for what, count, dollars in found]


def load_now(inside: Inside, sampler: Sampler, now_ms: int) -> LoadNow | None:
    """Of the last ten minutes; None before there is a sample."""
    means = {name: sampler.mean(name, now_ms, WINDOW_POINTS) for name in ("records_in", "bytes_in")}
    messages, size = means["records_in"], means["bytes_in"]
    if messages is None or size is None:
        return None
    producers, consumers = inside.clients()
    return LoadNow(messages, size / messages if messages else None, producers, consumers)


def a_month(now: LoadNow, sampler: Sampler, at: Prices) -> Mapping[str, float]:
    """Dollars, by how it could be run. What does not happen is not billed: without messages, no
    producers."""
    messages = now.messages_per_s or 0.0
    load = Load(
        messages_per_second=messages,
        size=max(1, round(now.bytes_per_message or 1)),
        producers=max(now.producers or 0, 1 if messages else 0),
        consumers=now.consumers or 0,
        groups=max(1, min(len(sampler.listed_groups), now.consumers or 0)),
        partitions=max(1, sampler.partitions),
    )
    return {name: round(bill(load, at).total, 2) for name, bill in BILLS.items()}


@cache
def prices() -> Prices:
    text = resources.files("samsa_broker.cost").joinpath("prices.toml").read_text("utf-8")
    return Prices(tomllib.loads(text))
