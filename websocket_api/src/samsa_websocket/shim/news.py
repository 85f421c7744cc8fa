"""Answers a waiting fetch with the records that wakes brought. Pure.

After such an answer the client asks for what follows. Its next fetch, and the empty response to
that, are known in advance: so the shim holds that fetch too, without asking the cluster.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError
from samsa.wire.frame import read_request, read_response, response_frame
from samsa.wire.rows import Row
from samsa_websocket.envelope import Frame, News, Wake

FETCH = APIS[ApiKey.FETCH]
FIRST_WITH_BATCHES = 4
"""Older fetches get message sets: the cluster has to convert what it stored."""
FIRST_BY_ID = 13
SIZE = 4

Position = tuple[str, int]
"""A partition as a fetch names it: the topic's name, or its id in hex, and the number."""


class ToldAnswer(NamedTuple):
    frame: bytes
    next_identity: Hashable
    """Of the fetch that the client will send after this answer."""
    next_empty: bytes
    """The response to that fetch if there is nothing more."""


def identity(request: Frame) -> Hashable:
    """Equal for requests that have the same empty answer.

    A consumer with nothing to read repeats its request, except for two things: the correlation id
    (bytes 4 to 8 of a request), and the order in which it names its partitions. librdkafka begins
    with another partition each time, and may name a topic twice for that; aiokafka shuffles them.
    Clients find partitions in an answer by name, so any order is right.
    """
    asked = _read(request)
    if asked is None:
        view = memoryview(request)
        return b"".join((view[:4], view[8:]))
    return _identity(*asked)


def positions(request: Frame) -> dict[Position, int]:
    """The offset that a fetch asks for in each partition; empty for any other request."""
    asked = _read(request)
    if asked is None or asked[0].api_version < FIRST_WITH_BATCHES:
        return {}
    version, row = asked[0].api_version, asked[1]
    return {
        _position(topic, entry, version): entry.fetch_offset
        for topic, entry in _entries(row.topics)
    }


def follow(
    wake: Wake, watches: frozenset[str], at: dict[Position, int]
) -> dict[Position, int] | None:
    """The positions after what a wake brought for these watches. None if it names one of them and
    brings no records for it, or if the records do not begin at the position."""
    moved = dict(at)
    told = [news for news in wake.news if news.name in watches]
    for news in told:
        place = (news.topic, news.partition)
        if place not in at:
            place = (news.topic_id, news.partition)
        if moved.get(place) != news.base:
            return None
        moved[place] = news.end
    return moved if watches & set(wake.names) == {news.name for news in told} else None


def answer_with(wakes: Sequence[Wake], request: Frame, empty: Frame) -> ToldAnswer | None:
    """The response to `request`, whose response without records is `empty`. None if what the wakes
    brought does not begin at the offset that was asked for, or does not fit the size that was asked
    for."""
    asked = _read(request)
    if asked is None or asked[0].api_version < FIRST_WITH_BATCHES:
        return None
    head, fetch = asked
    version = head.api_version
    try:
        _, row = read_response(FETCH, version, memoryview(empty))
    except DecodeError:
        return None
    wanted = {_position(t, e, version): e for t, e in _entries(fetch.topics)}
    places = {_position(t, e, version): e for t, e in _entries(row.responses)}
    taken = 0
    for news, data in _told(wakes):
        at = (news.topic_id if version >= FIRST_BY_ID else news.topic, news.partition)
        entry, place = wanted.get(at), places.get(at)
        if entry is None or place is None:
            continue  # another fetch of the same client waits for these records
        if entry.fetch_offset != news.base:
            return None
        taken += news.size
        if taken > min(entry.partition_max_bytes, fetch.max_bytes):
            return None
        place.records = [*(place.records or ()), data]
        place.high_watermark = place.last_stable_offset = entry.fetch_offset = news.end
        place.log_start_offset = news.start
    if not taken or taken < fetch.min_bytes:
        return None
    frame = _encoded(version, head.correlation_id, row)
    for place in places.values():
        place.records = []
    return ToldAnswer(frame, _identity(head, fetch), _encoded(version, 0, row))


def _told(wakes: Sequence[Wake]) -> Iterator[tuple[News, memoryview]]:
    for wake in wakes:
        at = 0
        for news in wake.news:
            yield news, memoryview(wake.frame)[at : at + news.size]
            at += news.size


def _encoded(version: int, correlation_id: int, row: Any) -> bytes:
    segments = FETCH.response.encode(version, row)
    whole = response_frame(ApiKey.FETCH, version, correlation_id, segments)
    return b"".join(whole)[SIZE:]


def _read(request: Frame) -> tuple[Any, Any] | None:
    """The head and the row of a fetch; None if it is something else, or not of our versions."""
    try:
        asked = read_request(memoryview(request))
        if asked.api_key != ApiKey.FETCH:
            return None
        return asked, FETCH.request.decode(asked.api_version, asked.body, exact=False)
    except (DecodeError, KeyError):
        return None


def _entries(topics: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    for topic in topics:
        for entry in topic.partitions:
            yield topic, entry


def _position(topic: Any, entry: Any, version: int) -> Position:
    number = entry.partition if hasattr(entry, "partition") else entry.partition_index
    return (topic.topic_id.hex if version >= FIRST_BY_ID else topic.topic), number


def _identity(head: Any, fetch: Any) -> Hashable:
    named = frozenset(
        (topic.topic, topic.topic_id, *_values(entry)) for topic, entry in _entries(fetch.topics)
    )
    fetch.topics = []
    return head.api_version, head.client_id, named, *_values(fetch)


def _values(row: Row) -> Iterator[Hashable]:
    """Rows and lists are not hashable, and rare in what is left: their repr is good enough."""
    for name in row.field_names:
        value = getattr(row, name)
        yield repr(value) if isinstance(value, Row | list) else value
