"""Where a read begins and ends: `beginning`, `end`, an offset, or `@` and a time.

A partition may have its own: `0:120,3:77` are offsets by partition, as an earlier answer has them
in `next`; partitions that it leaves out are not read. `0:<120` reads backwards, what is before it.
"""

import re
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from fastapi import Query

from samsa.http_api.kafka_client import Bounds, KafkaClient
from samsa.http_api.lag import offsets_at
from samsa.http_api.parameters import INT64_MAX
from samsa.http_api.problems import RequestFailed
from samsa.ports import Topic

MOST_PARTITIONS = 1_000
"""That are read together, if all are asked for."""
LONGEST = 20_000
_OFFSET = re.compile(r"\d{1,19}")
_EACH = re.compile(r"\d{1,5}:<?\d{1,19}(?:,\d{1,5}:<?\d{1,19})*")

Partitions = Annotated[str, Query(alias="partition", description="A number, or `all`")]
Where = Annotated[
    str, Query(max_length=LONGEST, description="beginning, end, an offset, or @ and milliseconds")
]


class Reading(NamedTuple):
    """The partitions that a request reads."""

    topic: Topic
    numbers: list[int]
    bounds: Mapping[int, Bounds]
    ends: Mapping[int, int]
    """Where a reader of committed records stops, by partition."""


async def reading(name: str, partition: str, kafka: KafkaClient) -> Reading:
    """Raises Refused, RequestFailed. Empty partitions are left out first if there are too many."""
    topic = await kafka.topic(name)
    if partition == "all":
        numbers = list(range(topic.partitions))
    elif partition.isascii() and partition.isdigit() and len(partition) < 10:
        numbers = [int(partition)]
        await kafka.partition(name, numbers[0])
    else:
        raise wrong(f"partition is a number or all, not {partition!r}")
    bounds = await kafka.bounds(topic, numbers)
    if len(numbers) > MOST_PARTITIONS:
        numbers = [n for n in numbers if bounds[n].start < bounds[n].stable_end][:MOST_PARTITIONS]
    return Reading(topic, numbers, bounds, {n: bounds[n].stable_end for n in numbers})


def is_backwards(given: str) -> bool:
    return given == "end" or "<" in given


async def offsets(given: str, read: Reading, kafka: KafkaClient) -> dict[int, int]:
    """Within the log. Raises Refused, RequestFailed."""
    return {
        number: min(max(found, read.bounds[number].start), read.bounds[number].stable_end)
        for number, found in (await _offsets(given, read, kafka)).items()
    }


async def _offsets(given: str, read: Reading, kafka: KafkaClient) -> dict[int, int]:
    if given in ("beginning", "end"):
        if given == "end":
            return dict(read.ends)
        return {number: read.bounds[number].start for number in read.numbers}
    if _OFFSET.fullmatch(given):
        return dict.fromkeys(read.numbers, int(given))
    if _EACH.fullmatch(given):
        pairs = (each.split(":") for each in given.replace("<", "").split(","))
        named = {int(number): int(offset) for number, offset in pairs}
        return {number: named[number] for number in read.numbers if number in named}
    if given.startswith("@") and _OFFSET.fullmatch(given[1:]) and int(given[1:]) <= INT64_MAX:
        found = await offsets_at(read.topic.name, read.numbers, int(given[1:]), kafka)
        return {n: end if found[n] < 0 else found[n] for n, end in read.ends.items()}
    raise wrong(f"{given[:100]!r} is not beginning, end, an offset, or @ and milliseconds")


def wrong(detail: str) -> RequestFailed:
    return RequestFailed(422, "Invalid request", detail, "docs/console.md says what is asked how.")
