"""Produce (key 0).

Behaviour: every partition is appended on its own and answers on its own; one bad batch never spoils
its neighbours. acks=0 gets no reply at all. acks=1 and acks=-1 mean the same: stored. The request
is checked and queued before the next one of its connection is looked at, so that order of requests
is order in the log; its answer comes when the log's does. Records that take long to check are
checked off the event loop (`checks.py`). Where a topic has LogAppendTime, a batch gets the broker's
time as it comes. A topic that is not there is not made: clients ask Metadata first, which makes it.

Versions: 0-2 carry message sets, converted to a v2 batch on the way in. 3+ carry RecordBatch v2 and
are stored as they came. 13 names topics by id.
"""

import asyncio
from typing import Any

from samsa.log.writer import Appending
from samsa.ports import Topic, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.produce import RESPONSE
from samsa.work import FEW, SHORT

from .acknowledge import response, response_in_pieces, stored_alone
from .alike import FIRST_BY_ID, Alike, timeout_of
from .appends import Pending, Terms, Unchecked, begin, go_on
from .broker import Broker, Context, Later, handles
from .checks import takes_long
from .configs import Refused
from .resolve import topic_of


class Produced(Later):
    __slots__ = ("_pending", "_terms")

    def __init__(
        self, terms: Terms, pending: list[Pending], timeout_s: float | None, alone: Any = None
    ) -> None:
        under_way = [one.result for one in pending if isinstance(one.result, Appending)]
        super().__init__(under_way, timeout_s, alone)
        self._terms = terms
        self._pending = pending

    def build(self) -> Any:
        return None if self._terms.acks == 0 else response(self._pending)

    def body(self) -> bytes | None:
        return stored_alone(self._terms, self._pending)


@handles(ApiKey.PRODUCE)
async def produce(request: Any, context: Context, broker: Broker) -> Later:
    terms = Terms(context.version, request.acks)
    timeout_s = timeout_of(request)
    pending: list[Pending] = []
    by_id = context.version >= FIRST_BY_ID
    slice_ = broker.work.slice() if _is_long(request) else None
    for topic in request.topic_data:
        if slice_ is not None and slice_.is_over:
            await slice_.rest()
        found: Topic | Refused | None = broker.catalog.remembered(
            topic.topic_id if by_id else topic.name
        )
        if found is None:
            found, timeout_s = await _topic(topic, by_id, broker, timeout_s)
        for entry in topic.partition_data:
            if slice_ is not None and slice_.is_over:
                await slice_.rest()
            one = begin(topic, entry.index, entry.records, found, terms, broker)
            pending.append(await go_on(one, broker) if isinstance(one, Unchecked) else one)
    if len(pending) > SHORT:
        return await _produced_long(terms, pending, timeout_s, broker)
    alone = len(pending) == len(request.topic_data) == 1
    return Produced(terms, pending, timeout_s, request if alone else None)


def _is_long(request: Any) -> bool:
    topics = request.topic_data
    return len(topics) > FEW or any(len(topic.partition_data) > FEW for topic in topics)


class ProducedLong(Later):
    """Built and encoded already: only the memory of what came too late is still in use."""

    __slots__ = ("_body", "_row")

    def __init__(
        self, under_way: list[Appending], row: Any = None, body: bytes | None = None
    ) -> None:
        super().__init__(under_way, 0.0)
        self._row, self._body = row, body

    def build(self) -> Any:
        return self._row

    def body(self) -> bytes | None:
        return self._body


async def _produced_long(
    terms: Terms, pending: list[Pending], timeout_s: float | None, broker: Broker
) -> Later:
    """The answer for thousands of partitions is waited for here, and built in pieces."""
    under_way = [one.result for one in pending if isinstance(one.result, Appending)]
    if under_way:
        await asyncio.wait(under_way, timeout=timeout_s)
    late = [one for one in under_way if not one.done()]
    if terms.acks == 0:
        return ProducedLong(late)
    row = await response_in_pieces(pending, broker.work)
    body = await broker.work.in_thread(RESPONSE.encode_bytes, terms.version, row)
    return ProducedLong(late, row, body)


def produce_alike(one: Alike, broker: Broker) -> Later | None:
    """None if it has to wait for something before it can be queued."""
    kind = one.kind
    topic = broker.catalog.remembered(kind.topic_key)
    if topic is None or takes_long(one.records):
        return None
    pending = begin(kind.topic, kind.number, one.records, topic, kind.terms, broker)
    if isinstance(pending, Unchecked):
        return None
    return Produced(kind.terms, [pending], kind.timeout_s)


async def _topic(
    topic: Any, by_id: bool, broker: Broker, timeout_s: float | None
) -> tuple[Topic | Refused, float | None]:
    """And how much of the time is left."""
    now = asyncio.get_running_loop().time
    deadline = None if timeout_s is None else now() + timeout_s
    found = await _looked_up(topic, by_id, broker, deadline)
    return found, None if deadline is None else max(0.0, deadline - now())


async def _looked_up(
    topic: Any, by_id: bool, broker: Broker, deadline: float | None
) -> Topic | Refused:
    try:
        async with asyncio.timeout_at(deadline):
            return await topic_of(topic, by_id, broker)
    except Refused as refused:
        return refused.with_traceback(None)  # which would hold on to the request's memory
    except (Unavailable, TimeoutError) as error:
        # Queued it keeps its place. Refused it would leave a gap before the next request.
        key = topic.topic_id if by_id else topic.name
        return broker.catalog.last_seen(key) or Refused(ErrorCode.REQUEST_TIMED_OUT, str(error))
