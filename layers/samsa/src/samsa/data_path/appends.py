"""Check one partition's batch of a produce request, and queue it in the log."""

from typing import TYPE_CHECKING, NamedTuple

from samsa.broker.broker import Broker
from samsa.broker.unpacking import Long
from samsa.log.layout import Batch
from samsa.log.writer import Appending
from samsa.ports import Partition, Topic
from samsa.records.errors import RecordError, TooLarge
from samsa.topics.catalog import partition_of
from samsa.topics.configs import Refused
from samsa.topics.internal import refuse_internal
from samsa.wire.errors import ErrorCode

from .checks import CODES, PRODUCERS_TIME, Wanted, check, gives_time
from .transactional import OUTSIDE, Entered, with_serial

if TYPE_CHECKING:
    from samsa.wire.messages.produce import TopicProduceData

ACKS = (-1, 0, 1)


class Terms(NamedTuple):
    """What a request says of all its batches."""

    version: int
    acks: int
    lingers: bool = False
    """As in `RequestPorts`."""


class Pending(NamedTuple):
    """One partition of a request: under way, or refused."""

    topic: "TopicProduceData"
    """The request's row."""
    number: int
    result: Appending | Refused
    appended_at: int
    """The append time if the topic has LogAppendTime, else −1."""


class Unchecked(NamedTuple):
    """One partition of a request whose records take long to check."""

    topic: "TopicProduceData"
    number: int
    partition: Partition
    check: Long[Batch]
    appended_at: int
    entered: Entered


def begin(
    row: "TopicProduceData",
    index: int,
    records: memoryview | None,
    topic: Topic | Refused,
    terms: Terms,
    broker: Broker,
    entered: Entered = OUTSIDE,
) -> Pending | Unchecked:
    if isinstance(topic, Refused):
        return Pending(row, index, topic, PRODUCERS_TIME)
    now_ms = broker.stores.clock.now_ms()
    appended_at = now_ms if topic.configs and gives_time(topic) else PRODUCERS_TIME
    result: Appending | Refused
    try:
        partition = _partition(topic, index, terms.acks)
        wanted = Wanted(topic, index, terms.version, now_ms, broker.rules.work.max_made_bytes)
        batch = check(records, wanted, broker.unpacking)
        if isinstance(batch, Long):
            return Unchecked(row, index, partition, batch, appended_at, entered)
        result = _queue(batch, partition, entered, terms, broker)
    except (Refused, RecordError) as error:
        result = _refused(error, broker)
    return Pending(row, index, result, appended_at)


async def go_on(one: Unchecked, terms: Terms, broker: Broker) -> Pending:
    """The caller queues nothing else before this is done: requests keep their order in the log."""
    result: Appending | Refused
    try:
        batch = await broker.unpacking.finish(one.check)
        result = _queue(batch, one.partition, one.entered, terms, broker)
    except (Refused, RecordError) as error:
        result = _refused(error, broker)
    return Pending(one.topic, one.number, result, one.appended_at)


def _queue(
    batch: Batch, partition: Partition, entered: Entered, terms: Terms, broker: Broker
) -> Appending:
    batch = with_serial(batch, partition, entered)
    if terms.lingers:
        batch = batch._replace(lingers=True)
    return broker.log.append(partition, batch)


def _refused(error: Refused | RecordError, broker: Broker) -> Refused:
    if isinstance(error, Refused):
        return error.with_traceback(None)  # a traceback would keep the request's memory in use
    if isinstance(error, TooLarge):
        broker.work.refused["unpacked bytes"] += 1
    return Refused(CODES[type(error)], str(error))


def _partition(topic: Topic, index: int, acks: int) -> Partition:
    if acks not in ACKS:
        raise Refused(ErrorCode.INVALID_REQUIRED_ACKS, f"acks is -1, 0 or 1, not {acks}")
    partition = partition_of(topic, index)
    if partition is None:
        raise Refused(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic.name} has no partition {index}"
        )
    refuse_internal(topic)
    return partition
