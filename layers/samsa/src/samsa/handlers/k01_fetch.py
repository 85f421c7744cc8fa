"""Fetch (key 1).

Behaviour: returns whole batches as they were stored. The first may begin below the fetch offset. At
least one batch is returned, even if it exceeds max_bytes (KIP-74). Waits until all partitions
together have min_bytes, or max_wait is over; an append to any of them wakes it. There are no fetch
sessions (KIP-227): every request is complete, and every answer has session 0, which means "none" to
clients. With read_committed a reader gets nothing at or above the last stable offset, and a list of
the aborted transactions in what it gets. A transaction that holds it back and is decided, or has
timed out, is finished here (`committed_reads.py`). A consumer with a rack is redirected to a
process of that zone (`nodes.py`), at once and without records. Only the process that leads the
partition does so.

A consumer over its quota gets an answer without topics, at once and before anything is read from
the objects. An answer has at most what the quota grants for ten seconds, and one batch at least.

Needs READ on each topic. A replica id in the request is not looked at: it gives no other rights.

Versions: 0-3 know no isolation, and get message sets, converted from the batches (0-1 magic 0, 2-3
magic 1), 16 MB of them at most, and no message above that: MESSAGE_TOO_LARGE. For 0-2 a set that is
larger than max_bytes is cut within its last message, never within its first. 11+ know racks. 13+
name topics by id.
"""

from __future__ import annotations

import asyncio
from operator import attrgetter
from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, Held, handles
from samsa.broker.request_ports import RequestPorts
from samsa.broker.work import FEW, SHORT, SIDE_BY_SIDE
from samsa.data_path.committed_reads import is_held_back, settle
from samsa.data_path.legacy_fetch import LAST_WITH_MESSAGE_SETS, MAX_BYTES, MessageSets
from samsa.data_path.reads import Read, Room, resolve, trim
from samsa.ports import CannotWait, Missing, Objects, Partition, Unavailable, UnknownPartition
from samsa.security.kinds import Operation
from samsa.topics.configs import Refused
from samsa.topics.permitted import need
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import fetch as wire

if TYPE_CHECKING:
    from samsa.security.throttling import ClientThrottle

READ_COMMITTED = 1
FIRST_BY_ID = 13
LONG_WAIT_MS = 1_000
"""The longest wait of a fetch of thousands of partitions, because it holds memory while it waits.
"""
TRIES = 3


@handles(ApiKey.FETCH)
async def fetch(
    request: wire.FetchRequest, context: Context, broker: Broker
) -> wire.FetchResponse | Held:
    if request.session_id != 0:
        return wire.RESPONSE(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    reads = await _resolve_all(request, context, broker)
    if request.rack_id:
        async for read in broker.work.pace(reads):
            read.send_near(request.rack_id, broker)
    most = min(request.max_bytes, broker.rules.max_fetch_bytes)
    if context.throttle is not None:
        most = context.throttle.fewer_bytes(most)
    old: MessageSets | None = None
    if context.version <= LAST_WITH_MESSAGE_SETS:
        most = min(most, MAX_BYTES)
        old = MessageSets(context.version, most, broker)
    ports = broker.ports_of(context)
    await _wait_for_data(request, reads, most, ports, broker)
    trim(reads, most)
    if context.throttle is not None:
        throttle_ms = _throttle_ms(reads, context.throttle)
        if throttle_ms:
            return wire.RESPONSE(throttle_time_ms=throttle_ms)
    size = _memory(reads, old, broker)
    await broker.answer_memory.acquire(size)
    try:
        await _load_all(reads, old, ports.objects, broker)
        row = (
            _response(request, reads)
            if len(reads) <= SHORT
            else await _response_in_pieces(request, reads, broker)
        )
        return Held(row, lambda: broker.answer_memory.release(size))
    except BaseException:
        broker.answer_memory.release(size)
        raise


def _throttle_ms(reads: list[Read], throttle: ClientThrottle) -> int:
    """Counts what would be sent. Above 0 nothing is, and nothing was counted."""
    size = sum(read.plan.size for read in reads if read.plan is not None)
    return throttle.record_fetch(size) if size else 0


def _memory(reads: list[Read], old: MessageSets | None, broker: Broker) -> int:
    """The memory that the answer takes. Batches in local files take none: they are sent from the
    file."""
    if old is not None:
        return old.memory(reads)
    return sum(read.plan.size for read in reads if read.plan) if broker.stores.objects.remote else 0


async def _resolve_all(request: wire.FetchRequest, context: Context, broker: Broker) -> list[Read]:
    by_id, needs = context.version >= FIRST_BY_ID, need(context.access, Operation.READ)
    how = by_id, broker, request.isolation_level == READ_COMMITTED, needs
    topics = request.topics
    if len(topics) <= FEW:
        return [read for topic in topics for read in await resolve(topic, *how)]
    paced = broker.work.pace(topics)
    return [read async for topic in paced for read in await resolve(topic, *how)]


async def _wait_for_data(
    request: wire.FetchRequest, reads: list[Read], most: int, ports: RequestPorts, broker: Broker
) -> None:
    clock, wakeups = ports.clock, ports.wakeups
    max_wait_ms = max(0, request.max_wait_ms)
    if len(reads) > SHORT:
        max_wait_ms = min(max_wait_ms, LONG_WAIT_MS)
    deadline = clock.now_ms() + max_wait_ms
    partitions = [read.partition for read in reads if read.partition is not None]
    wanted = min(request.min_bytes, most)
    with wakeups.subscribe(partitions) as woken:
        while True:
            room = Room(most)
            await _plan_all(reads, room, broker)
            enough = room.is_full or room.taken >= wanted or any(map(_is_answered, reads))
            now = clock.now_ms()
            if not partitions or enough or deadline <= now:
                # Others may have filled the answer, again and again.
                held_back = [read for read in reads if is_held_back(read)]
                if held_back:
                    await settle(held_back, broker)
                return
            deadline = min(deadline, now + max_wait_ms)  # the clock may have been set back
            look_again_ms = await settle(reads, broker)
            if not await _watch_all(reads, ports, broker):
                try:
                    await woken.wait(max(0, deadline - clock.now_ms()), look_again_ms)
                except CannotWait:
                    return  # with what there is; the caller parks a request that needs more


def _is_answered(read: Read) -> bool:
    return read.refused is not None or read.near is not None


async def _plan_all(reads: list[Read], room: Room, broker: Broker) -> None:
    """Local stores answer at once: so reads are in effect planned one after the other, each in the
    room that is left. Remote stores are asked for all reads concurrently; `trim` then drops what
    exceeds the limit."""
    if len(reads) == 1:
        await reads[0].make_plan(room, broker)
    elif len(reads) <= SIDE_BY_SIDE:
        await asyncio.gather(*(read.make_plan(room, broker) for read in reads))
    else:
        await broker.work.some_at_once(reads, lambda read: read.make_plan(room, broker))


async def _watch_all(reads: list[Read], ports: RequestPorts, broker: Broker) -> bool:
    """True if a watch is new: then plan again, as an append may have come before the watch."""
    wanted = [r.partition for r in reads if r.partition is not None and r.refused is None]
    return any(await broker.work.some_at_once(wanted, lambda one: _watch(one, ports)))


async def _watch(partition: Partition, ports: RequestPorts) -> bool:
    try:
        return await ports.watch(partition)
    except (Unavailable, UnknownPartition):
        return False  # without a watch the wait is only longer


async def _load_all(
    reads: list[Read], old: MessageSets | None, objects: Objects, broker: Broker
) -> None:
    if len(reads) == 1:
        await _load(reads[0], old, objects, broker)
    elif old is not None:
        async for read in broker.work.pace(reads):
            await _load(read, old, objects, broker)
    elif len(reads) <= SIDE_BY_SIDE:
        await asyncio.gather(*(_load(read, None, objects, broker) for read in reads))
    else:
        await broker.work.some_at_once(reads, lambda read: _load(read, None, objects, broker))


async def _load(read: Read, old: MessageSets | None, objects: Objects, broker: Broker) -> None:
    for _ in range(TRIES):
        if read.plan is None:
            return
        try:
            if old is not None:
                await old.load(read)
            else:
                ranges = read.plan.ranges
                read.pieces = await broker.log.load(ranges, objects) if ranges else []
            return
        except Missing:
            # The plan names an object that was swept since. The index has changed, so plan again.
            await read.make_plan(Room(read.plan.size), broker)
        except Unavailable as error:
            read.refuse(Refused(ErrorCode.KAFKA_STORAGE_ERROR, str(error)))
    read.refuse(Refused(ErrorCode.KAFKA_STORAGE_ERROR, "the log keeps moving"))


def _response(request: wire.FetchRequest, reads: list[Read]) -> wire.FetchResponse:
    topics: list[wire.FetchableTopicResponse] = []
    _add_responses(request, reads, topics, None)
    return wire.RESPONSE(responses=topics)


async def _response_in_pieces(
    request: wire.FetchRequest, reads: list[Read], broker: Broker
) -> wire.FetchResponse:
    topics: list[wire.FetchableTopicResponse] = []
    last: wire.FetchTopic | None = None
    for start in range(0, len(reads), SHORT):
        if start:
            await broker.work.give_way()
        last = _add_responses(request, reads[start : start + SHORT], topics, last)
    return wire.RESPONSE(responses=topics)


def _add_responses(
    request: wire.FetchRequest,
    reads: list[Read],
    topics: list[wire.FetchableTopicResponse],
    last: wire.FetchTopic | None,
) -> wire.FetchTopic | None:
    """`last` is the request's row that the last of `topics` answers; its new value is returned."""
    for read in reads:
        if read.topic is not last:
            last = read.topic
            topics.append(
                wire.TOPIC_RESPONSE(topic=last.topic, topic_id=last.topic_id, partitions=[])
            )
        topics[-1].partitions.append(_partition_response(request, read))
    return last


def _partition_response(request: wire.FetchRequest, read: Read) -> wire.PartitionData:
    aborted: list[wire.AbortedTransaction] | None = None
    if read.committed:
        # By first offset, not by marker as in Kafka: KafkaJS relies on it, no client on the other.
        plan = read.plan
        found = sorted(plan.aborted, key=attrgetter("first")) if plan is not None else ()
        aborted = [
            wire.ABORTED_TRANSACTION(producer_id=one.producer_id, first_offset=one.first)
            for one in found
        ]
    if read.near is not None:
        return wire.PARTITION_RESPONSE(
            partition_index=read.entry.partition,
            high_watermark=read.visible_end,
            aborted_transactions=aborted,
            preferred_read_replica=read.near,
            records=[],
        )
    if read.plan is None:
        code = read.refused.code if read.refused else ErrorCode.UNKNOWN_SERVER_ERROR
        return wire.PARTITION_RESPONSE(
            partition_index=read.entry.partition,
            error_code=code,
            high_watermark=read.visible_end,
            log_start_offset=read.log_start,
            aborted_transactions=aborted,
            records=[],
        )
    return wire.PARTITION_RESPONSE(
        partition_index=read.entry.partition,
        high_watermark=read.plan.visible_end,
        last_stable_offset=read.plan.stable_end,
        log_start_offset=read.plan.log_start,
        aborted_transactions=aborted,
        records=read.pieces,
    )
