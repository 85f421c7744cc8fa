"""Produce requests that are like an earlier one of their connection but for their records.

A producer of small batches sends the same request over and over: client, acks, timeout, topic and
partition stay, and only the correlation id and the records change. To read what stays again was a
tenth of the broker's work for such a request. So a connection keeps the first of each kind, by the
bytes that stand before the records; whatever differs in one of them is read as usual.

Those bytes are not found in the request but made from its row, by the message table: a request that
begins with them and has no tags means what the row says.
"""

import struct
from typing import Any, NamedTuple
from uuid import UUID

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import Request, request_frame
from samsa.wire.messages.produce import PARTITION, REQUEST, TOPIC
from samsa.wire.runtime import varint

from .appends import Terms

SINCE = 9
"""From here on versions are flexible: a varint before the records, and tags behind them."""
FIRST_BY_ID = 13
LEARNED = 64
"""A connection that goes on showing others after as many is none of those that this is for."""
_START = struct.Struct(">hhi")
_SIZE = 4
_NO_TAGS = b"\0\0\0"
"""Of the partition, of the topic and of the request."""
_NO_BODY = memoryview(b"")


class Kind(NamedTuple):
    """What such requests have in common."""

    client_id: str | None
    terms: Terms
    timeout_s: float | None
    topic: Any
    """A row with a name and an id, and nothing in it."""
    topic_key: str | UUID
    number: int


class Alike(NamedTuple):
    """One of them."""

    kind: Kind
    correlation_id: int
    records: memoryview

    @property
    def request(self) -> Request:
        version, client_id = self.kind.terms.version, self.kind.client_id
        return Request(ApiKey.PRODUCE, version, self.correlation_id, client_id, _NO_BODY)


class Kinds:
    """Those of one connection."""

    def __init__(self) -> None:
        self._known: dict[bytes, Kind] = {}
        self._to_learn = LEARNED
        self._end = 0
        """Where the bytes end that stand before the records, in those that were learned last."""

    def learn(self, request: Request, row: Any) -> None:
        """`row` is for one partition."""
        version = request.api_version
        if version < SINCE or not self._to_learn:
            return
        self._to_learn -= 1
        (topic,) = row.topic_data
        (partition,) = topic.partition_data
        kind = Kind(
            request.client_id,
            Terms(version, row.acks),
            timeout_of(row),
            TOPIC(name=topic.name, topic_id=topic.topic_id),
            topic.topic_id if version >= FIRST_BY_ID else topic.name,
            partition.index,
        )
        before = _before_records(request, row)
        self._known[before[_START.size :]] = kind
        self._end = len(before)

    def find(self, frame: memoryview) -> Alike | None:
        kind = self._known.get(bytes(frame[_START.size : self._end]))
        if kind is None:
            return None
        key, version, correlation_id = _START.unpack_from(frame)
        if key != ApiKey.PRODUCE or version != kind.terms.version:
            return None
        try:
            length, first = varint(frame, self._end)
        except IndexError:
            return None
        end = first + length - 1
        if frame[end:] != _NO_TAGS:
            return None  # or null for records, whose length is 0
        return Alike(kind, correlation_id, frame[first:end])


def timeout_of(row: Any) -> float | None:
    return row.timeout_ms / 1000 if row.timeout_ms > 0 else None


def _before_records(request: Request, row: Any) -> bytes:
    """A whole request without records ends with their length and the tags."""
    (topic,) = row.topic_data
    (partition,) = topic.partition_data
    bare = REQUEST(
        transactional_id=row.transactional_id,
        acks=row.acks,
        timeout_ms=row.timeout_ms,
        topic_data=[
            TOPIC(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_data=[PARTITION(index=partition.index, records=b"")],
            )
        ],
    )
    frame = request_frame(
        APIS[ApiKey.PRODUCE], request.api_version, request.correlation_id, request.client_id, bare
    )
    return frame[_SIZE : -1 - len(_NO_TAGS)]
