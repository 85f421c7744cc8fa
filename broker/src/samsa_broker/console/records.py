"""Records: browse them by offset, time and key; search them; follow them as they come."""

from collections.abc import Generator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from samsa.http_api.kafka_client import Asked
from samsa.http_api.parameters import TopicName
from samsa.records.record import Record

from .lines import Lines, Tell
from .matching import matcher
from .merging import BackwardLane, Lane, merged
from .positions import Partitions, Where, is_backwards, offsets, reading
from .searching import Search
from .shown import Form, Shower, dumped
from .state import API, OnConsole
from .tailing import follow
from .ticking import loop_time

router = APIRouter(prefix=f"{API}/topics/{{topic}}", include_in_schema=False)
MOST_RECORDS = 1_000
Shown = Annotated[Form, Query(alias="format")]
Limit = Annotated[int, Query(ge=1, le=MOST_RECORDS)]


@router.get("/records")
async def browse(
    topic: TopicName,
    kafka: Asked,
    _: OnConsole,
    partition: Partitions = "all",
    start: Annotated[Where, Query(alias="from")] = "beginning",
    limit: Limit = 50,
    form: Shown = Form.AUTO,
    key: Annotated[str | None, Query(max_length=32_768)] = None,
) -> Response:
    """From `end` the newest first, else in the order of time. `next` says where to go on: given as
    `from`, as PARTITION:NEXT with commas between, it continues this answer."""
    read = await reading(topic, partition, kafka)
    begins = await offsets(start, read, kafka)
    lanes: Sequence[Lane]
    if is_backwards(start):
        lanes = [BackwardLane(n, at, read.bounds[n].start) for n, at in begins.items()]
    else:
        lanes = [Lane(n, at, read.ends[n]) for n, at in begins.items()]
    wanted = None if key is None else key.encode(errors="surrogatepass")
    found = await merged(lanes, limit, topic, wanted, kafka, loop_time())
    shower = await Shower(form).knowing([record for _, record, _ in found.records], kafka)
    more = {"next": found.next_places, "ends": read.ends}
    body = await kafka.work.in_slices(_told(found.records, shower, more))
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})


def _told(
    records: Sequence[tuple[int, Record, bool]], shower: Shower, more: dict[str, Any]
) -> Generator[None, None, bytes]:
    told = []
    for each in records:
        told.append(dumped(shower.record(*each)))
        yield
    rest = dumped(more)[1:]
    return b'{"records":[' + b",".join(told) + b"]," + rest


@router.get("/search")
async def search(
    topic: TopicName,
    kafka: Asked,
    console: OnConsole,
    q: Annotated[str, Query(min_length=1, max_length=4_096)],
    among: Annotated[str, Query(alias="in")] = "key,value,headers",
    regex: bool = False,
    partition: Partitions = "all",
    start: Annotated[Where, Query(alias="from")] = "beginning",
    to: Where = "end",
    limit: Limit = 100,
    form: Shown = Form.AUTO,
) -> Response:
    """Lines of what was found, of progress, and at the end of what was done."""
    match = await kafka.work.in_thread(matcher, q, among, regex)  # imports RE2
    read = await reading(topic, partition, kafka)
    first, last = await offsets(start, read, kafka), await offsets(to, read, kafka)
    work = Search(topic, match, Shower(form), limit, first, last, kafka, loop_time())
    return Lines(console.searches, work.run)


@router.get("/tail")
async def tail(
    topic: TopicName,
    kafka: Asked,
    console: OnConsole,
    partition: Partitions = "all",
    form: Shown = Form.AUTO,
) -> Response:
    """Lines of records as they come, from the end on."""
    read = await reading(topic, partition, kafka)

    async def work(tell: Tell) -> None:
        await follow(read, Shower(form), kafka, tell)

    return Lines(console.tails, work)
