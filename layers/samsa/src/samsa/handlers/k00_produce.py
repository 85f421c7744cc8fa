"""Produce (key 0).

Behaviour: every partition is appended on its own and has its own result; one bad batch does not
affect the others. acks=0 gets no reply at all. acks=1 and acks=-1 mean the same: stored. A request
is checked and queued before the next one of its connection is read, so requests keep their order in
the log. The answer is sent when the appends are done. Records that take long to check are checked
off the event loop (`checks.py`). If a topic has LogAppendTime, a batch gets the broker's time when
it arrives. An unknown topic is not created: clients ask Metadata first, which creates it.

Needs WRITE on each topic, and on the transactional id if there are transactional batches: without
that nothing is stored.

A transactional batch is appended if the coordinator finds its partition in the ongoing transaction
of its transactional id, or adds it (`transactional.py`). While its producer has a transaction open
in the partition, a batch outside of it is refused with INVALID_TXN_STATE.

Versions: 0-2 carry message sets, which are converted to a v2 batch before they are stored. 3+ carry
RecordBatch v2, which is stored as it came. 12+ add partitions to the transaction (KIP-890). 13
names topics by id.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, Later, handles
from samsa.broker.work import FEW, SHORT
from samsa.data_path.acknowledge import response, response_in_pieces, stored_alone
from samsa.data_path.appends import Pending, Terms, Unchecked, begin, go_on
from samsa.data_path.checks import takes_long
from samsa.data_path.produce_template import FIRST_BY_ID, TemplateMatch, timeout_of
from samsa.data_path.transactional import (
    OUTSIDE,
    Entered,
    enter,
    entered_already,
    forbidden,
    may_be_stray,
    transactional_header,
    why_stray,
)
from samsa.log.writer import Appending
from samsa.ports import Topic, Unavailable
from samsa.security.access import UNLIMITED
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.catalog import partition_of
from samsa.topics.configs import Refused
from samsa.topics.permitted import Need, may_transactional_id, need
from samsa.topics.resolve import topic_of
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import produce as wire

if TYPE_CHECKING:
    from uuid import UUID

    from samsa.security.access import Access


class Produced(Later):
    __slots__ = ("_pending", "_terms")

    def __init__(
        self,
        terms: Terms,
        pending: list[Pending],
        timeout_s: float | None,
        alone: wire.ProduceRequest | None = None,
    ) -> None:
        under_way = [one.result for one in pending if isinstance(one.result, Appending)]
        super().__init__(under_way, timeout_s, alone)
        self._terms = terms
        self._pending = pending

    def build(self) -> wire.ProduceResponse | None:
        return None if self._terms.acks == 0 else response(self._pending)

    def body(self) -> bytes | None:
        return stored_alone(self._terms, self._pending)


@handles(ApiKey.PRODUCE)
async def produce(request: wire.ProduceRequest, context: Context, broker: Broker) -> Later:
    terms = Terms(context.version, request.acks, broker.ports_of(context).lingers)
    timeout_s = timeout_of(request)
    pending: list[Pending] = []
    by_id = context.version >= FIRST_BY_ID
    entered, access = OUTSIDE, context.access
    needs, refused = need(access, Operation.WRITE), None
    if request.transactional_id is not None:
        refused = await forbidden(request, access, broker)
        if refused is None:
            entered = await enter(request, context.version, timeout_s, broker, needs)
    slice_ = broker.work.slice() if _is_long(request) else None
    for topic in request.topic_data:
        if slice_ is not None and slice_.is_over:
            await slice_.rest()
        key = topic.topic_id if by_id else topic.name
        found: Topic | Refused | None = refused or broker.catalog.remembered(key)
        if found is None:
            found, timeout_s = await _topic(key, broker, timeout_s, needs)
        elif needs is not None and isinstance(found, Topic):
            found = needs.met(found)
        for entry in topic.partition_data:
            if slice_ is not None and slice_.is_over:
                await slice_.rest()
            place = await _unless_stray(entry, found, broker) if broker.has_transactions else found
            one = begin(topic, entry.index, entry.records, place, terms, broker, entered)
            pending.append(await go_on(one, terms, broker) if isinstance(one, Unchecked) else one)
    if len(pending) > SHORT:
        return await _produced_long(terms, pending, timeout_s, broker)
    alone = len(pending) == len(request.topic_data) == 1
    return Produced(terms, pending, timeout_s, request if alone else None)


async def _unless_stray(
    entry: wire.PartitionProduceData, found: Topic | Refused, broker: Broker
) -> Topic | Refused:
    """The topic, or why a batch that is outside of its producer's transaction is refused."""
    if isinstance(found, Refused):
        return found
    return await why_stray(entry.records, found, entry.index, broker) or found


def _is_long(request: wire.ProduceRequest) -> bool:
    topics = request.topic_data
    return len(topics) > FEW or any(len(topic.partition_data) > FEW for topic in topics)


class ProducedLong(Later):
    """An answer that is already built and encoded. Only appends that are not done after the timeout
    still use memory."""

    __slots__ = ("_body", "_row")

    def __init__(
        self,
        under_way: list[Appending],
        row: wire.ProduceResponse | None = None,
        body: bytes | None = None,
    ) -> None:
        super().__init__(under_way, 0.0)
        self._row, self._body = row, body

    def build(self) -> wire.ProduceResponse | None:
        return self._row

    def body(self) -> bytes | None:
        return self._body


async def _produced_long(
    terms: Terms, pending: list[Pending], timeout_s: float | None, broker: Broker
) -> Later:
    """For thousands of partitions: wait for the appends here, and build the answer in pieces."""
    under_way = [one.result for one in pending if isinstance(one.result, Appending)]
    if under_way:
        await asyncio.wait(under_way, timeout=timeout_s)
    late = [one for one in under_way if not one.done()]
    if terms.acks == 0:
        return ProducedLong(late)
    row = await response_in_pieces(pending, broker.work)
    body = await broker.work.in_thread(wire.RESPONSE.encode_bytes, terms.version, row)
    return ProducedLong(late, row, body)


def produce_alike(one: TemplateMatch, broker: Broker, access: Access = UNLIMITED) -> Later | None:
    """The fast path. None if something must be waited for before the batch can be queued, or if the
    client may not do it any more."""
    template = one.template
    topic = broker.catalog.remembered(template.topic_key)
    if topic is None or takes_long(one.records):
        return None
    # Asked in place: two calls less are a hundredth of a small produce.
    if access.is_limited and not access.may(Operation.WRITE, ResourceType.TOPIC, topic.name):
        return None
    if broker.has_transactions and may_be_stray(one.records, topic, template.number, broker):
        return None
    entered = OUTSIDE
    if template.transactional_id is not None:
        known = _entered_alike(one, template.transactional_id, topic, broker, access)
        if known is None:
            return None
        entered = known
    pending = begin(
        template.topic, template.number, one.records, topic, template.terms, broker, entered
    )
    if isinstance(pending, Unchecked):
        return None
    return Produced(template.terms, [pending], template.timeout_s)


def _entered_alike(
    one: TemplateMatch, transactional_id: str, topic: Topic, broker: Broker, access: Access
) -> Entered | None:
    if not may_transactional_id(access, Operation.WRITE, transactional_id):
        return None
    header, partition = transactional_header(one.records), partition_of(topic, one.template.number)
    if header is None or partition is None:
        return OUTSIDE
    version = one.template.terms.version
    return entered_already(transactional_id, version, header, [partition], broker)


async def _topic(
    key: str | UUID, broker: Broker, timeout_s: float | None, needs: Need | None
) -> tuple[Topic | Refused, float | None]:
    """The topic, and how much of the timeout is left."""
    now = asyncio.get_running_loop().time
    deadline = None if timeout_s is None else now() + timeout_s
    found = await _looked_up(key, broker, deadline, needs)
    return found, None if deadline is None else max(0.0, deadline - now())


async def _looked_up(
    key: str | UUID, broker: Broker, deadline: float | None, needs: Need | None
) -> Topic | Refused:
    try:
        async with asyncio.timeout_at(deadline):
            return await topic_of(key, broker, needs)
    except Refused as refused:
        return refused.with_traceback(None)  # a traceback would keep the request's memory in use
    except (Unavailable, TimeoutError) as error:
        # Use the topic as last seen: the batch is queued in order. A refusal would leave a gap
        # before the producer's next request.
        seen = broker.catalog.last_seen(key)
        if seen is None:
            return Refused(ErrorCode.REQUEST_TIMED_OUT, str(error))
        return seen if needs is None else needs.met(seen)
