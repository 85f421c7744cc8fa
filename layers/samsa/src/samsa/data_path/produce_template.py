"""Fast path for produce requests that differ from an earlier one only in their records.

A producer of small batches repeats the same request: client, acks, timeout, topic and partition are
the same, and only the correlation id and the records change. To decode the same fields again was a
tenth of the broker's work for such a request. So a connection keeps what these requests
have in common as a template, by the bytes before the records. A request that differs in one of
these bytes is decoded as usual.

These bytes are not cut from the request. They are encoded from its row, by the message table: so a
request that begins with them and has no tags is certain to mean what the row says.
"""

import struct
from typing import NamedTuple
from uuid import UUID

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import KafkaRequest, request_frame
from samsa.wire.messages import produce as wire
from samsa.wire.runtime import varint

from .appends import Terms

SINCE = 9
"""The first flexible version: it has a varint before the records, and tags after them."""
FIRST_BY_ID = 13
LEARNED = 64
"""Templates that a connection learns. If it sends more, the fast path does not suit it."""
_START = struct.Struct(">hhi")
_SIZE = 4
_NO_TAGS = b"\0\0\0"
"""Empty tags of the partition, the topic and the request."""
_NO_BODY = memoryview(b"")


class ProduceTemplate(NamedTuple):
    """What requests that differ only in their records have in common."""

    client_id: str | None
    terms: Terms
    timeout_s: float | None
    topic: "wire.TopicProduceData"
    """A row with a name and an id, and no partitions."""
    topic_key: str | UUID
    number: int
    transactional_id: str | None = None


class TemplateMatch(NamedTuple):
    """A request that fits a template."""

    template: ProduceTemplate
    correlation_id: int
    records: memoryview

    @property
    def request(self) -> KafkaRequest:
        version, client_id = self.template.terms.version, self.template.client_id
        return KafkaRequest(ApiKey.PRODUCE, version, self.correlation_id, client_id, _NO_BODY)


class ProduceTemplates:
    """The templates of one connection."""

    def __init__(self) -> None:
        self._known: dict[bytes, ProduceTemplate] = {}
        self._to_learn = LEARNED
        self._end = 0
        """Where the bytes before the records end, in the template that was learned last."""

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, request: KafkaRequest, row: "wire.ProduceRequest") -> None:
        """`row` is for one partition."""
        version = request.api_version
        if version < SINCE or not self._to_learn:
            return
        self._to_learn -= 1
        (topic,) = row.topic_data
        (partition,) = topic.partition_data
        template = ProduceTemplate(
            request.client_id,
            Terms(version, row.acks),
            timeout_of(row),
            wire.TOPIC(name=topic.name, topic_id=topic.topic_id),
            topic.topic_id if version >= FIRST_BY_ID else topic.name,
            partition.index,
            row.transactional_id,
        )
        before = _before_records(request, row)
        self._known[before[_START.size :]] = template
        self._end = len(before)

    def find(self, frame: memoryview) -> TemplateMatch | None:
        template = self._known.get(bytes(frame[_START.size : self._end]))
        if template is None:
            return None
        key, version, correlation_id = _START.unpack_from(frame)
        if key != ApiKey.PRODUCE or version != template.terms.version:
            return None
        try:
            length, first = varint(frame, self._end)
        except IndexError:
            return None
        end = first + length - 1
        if frame[end:] != _NO_TAGS:
            return None  # it has tags; or its records are null, whose length is 0
        return TemplateMatch(template, correlation_id, frame[first:end])


def timeout_of(row: "wire.ProduceRequest") -> float | None:
    return row.timeout_ms / 1000 if row.timeout_ms > 0 else None


def _before_records(request: KafkaRequest, row: "wire.ProduceRequest") -> bytes:
    """The encoded request without records, and without its end: the records' length and the tags.

    `request_frame` begins with the frame's size, which is cut off too.
    """
    (topic,) = row.topic_data
    (partition,) = topic.partition_data
    bare = wire.REQUEST(
        transactional_id=row.transactional_id,
        acks=row.acks,
        timeout_ms=row.timeout_ms,
        topic_data=[
            wire.TOPIC(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_data=[wire.PARTITION(index=partition.index, records=b"")],
            )
        ],
    )
    frame = request_frame(
        APIS[ApiKey.PRODUCE], request.api_version, request.correlation_id, request.client_id, bare
    )
    return frame[_SIZE : -1 - len(_NO_TAGS)]
