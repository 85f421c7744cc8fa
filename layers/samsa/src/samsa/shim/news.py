"""A fetch that waits is answered with the records that a wake brought. Pure."""

from typing import Any

from samsa.envelope import Frame, News, Wake
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError
from samsa.wire.frame import read_request, read_response, response_frame

FIRST_WITH_BATCHES = 4
"""Older fetches get message sets: the cluster has to convert what it stored."""
FIRST_BY_ID = 13
SIZE = 4


def answer_with(wake: Wake, request: Frame, empty: Frame) -> bytes | None:
    """The response to `request`, whose response without records is `empty`; None if what the wake
    brought does not follow the offset that was asked for, or is too much or too little."""
    try:
        asked = read_request(memoryview(request))
        version = asked.api_version
        if asked.api_key != ApiKey.FETCH or version < FIRST_WITH_BATCHES:
            return None
        api = APIS[ApiKey.FETCH]
        fetch = api.request.decode(version, asked.body, exact=False)
        _, row = read_response(api, version, memoryview(empty))
    except (DecodeError, KeyError):
        return None
    taken, at = 0, 0
    for news in wake.news:
        data = memoryview(wake.frame)[at : at + news.size]
        at += news.size
        entry = _partition(fetch.topics, news, version)
        place = _partition(row.responses, news, version)
        if entry is None or place is None or entry.fetch_offset != news.base:
            continue
        if news.size > min(entry.partition_max_bytes, fetch.max_bytes - taken):
            continue
        taken += news.size
        place.records = [data]
        place.high_watermark = place.last_stable_offset = news.end
        place.log_start_offset = news.start
    if not taken or taken < fetch.min_bytes:
        return None
    segments = api.response.encode(version, row)
    whole = response_frame(ApiKey.FETCH, version, asked.correlation_id, segments)
    return b"".join(whole)[SIZE:]


def _partition(topics: list[Any], news: News, version: int) -> Any:
    for topic in topics:
        by_id = version >= FIRST_BY_ID
        same = topic.topic_id.hex == news.topic_id if by_id else topic.topic == news.topic
        for entry in topic.partitions if same else ():
            if _number(entry) == news.partition:
                return entry
    return None


def _number(entry: Any) -> int:
    number: int = entry.partition if hasattr(entry, "partition") else entry.partition_index
    return number
