"""Transactional batches of a produce request: in which transaction are they?

A batch carries the serial of the transaction in which the coordinator found its partition
(`log/producers.py` says why that is safe). From version 12 on a produce request also adds its
partitions to the transaction. Older clients did that by AddPartitionsToTxn, and it is verified here
(KIP-890): a batch that is not in an ongoing transaction would never get a marker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from samsa.broker.broker import Broker
from samsa.coordinator.transaction_errors import is_transactional_id
from samsa.log.layout import Batch
from samsa.ports import Partition, Topic, Unavailable, UnknownPartition
from samsa.records.errors import CorruptBatch
from samsa.records.header import BatchHeader, read_header
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.catalog import partition_of
from samsa.topics.configs import Refused
from samsa.topics.permitted import Need, may_transactional_id, refusal
from samsa.topics.resolve import topic_or_refusal
from samsa.transactions import AddPartitions, TransactionError, Verify
from samsa.wire.errors import ErrorCode

if TYPE_CHECKING:
    from samsa.security.access import Access
    from samsa.wire.messages.produce import ProduceRequest

FIRST_BY_ID = 13
FIRST_THAT_ADDS = 12
"""The first version of Produce that adds partitions to the transaction (KIP-890)."""
FIRST_WITH_ABORTABLE = 11

_CODES = {
    TransactionError.PRODUCER_FENCED: ErrorCode.INVALID_PRODUCER_EPOCH,
}


class Entered(NamedTuple):
    """The transaction of a request's batches, or why they are in none."""

    producer_id: int
    epoch: int
    serial: int
    partitions: Collection[Partition] = ()
    """Those that are certainly in it."""
    refused: Refused | None = None


OUTSIDE = Entered(-1, -1, 0)
"""Of a request that names no transaction."""


def with_serial(batch: Batch, partition: Partition, entered: Entered) -> Batch:
    """The batch with the serial of its transaction, if it is transactional. Raises Refused."""
    header = batch.header
    if not header.is_transactional:
        return batch
    if entered.refused is not None:
        raise entered.refused.with_traceback(None)
    if entered is OUTSIDE:
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        raise Refused(code, "a transactional batch needs a transactional id")
    if (header.producer_id, header.producer_epoch) != (entered.producer_id, entered.epoch):
        raise Refused(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            "the transactional batches of one request have one producer and one epoch",
        )
    if partition not in entered.partitions:
        raise Refused(ErrorCode.NOT_ENOUGH_REPLICAS, "its topic could not be looked up")
    return batch._replace(serial=entered.serial)


async def forbidden(request: ProduceRequest, access: Access, broker: Broker) -> Refused | None:
    """Why the client may not write by this transactional id. As in Kafka, nothing of the request is
    stored then, if one of its batches is transactional."""
    name = request.transactional_id
    if name is None or may_transactional_id(access, Operation.WRITE, name):
        return None
    async for topic in broker.work.pace(request.topic_data):
        async for entry in broker.work.pace(topic.partition_data):
            if transactional_header(entry.records) is not None:
                return refusal(ResourceType.TRANSACTIONAL_ID)
    return None


async def enter(
    request: ProduceRequest,
    version: int,
    timeout_s: float | None,
    broker: Broker,
    need: Need | None = None,
) -> Entered:
    """The transaction of a request's batches. Without a call if it is known to have them all.
    Partitions of topics that the client may not write to are not added to it."""
    assert request.transactional_id is not None
    first, partitions = await _transactional(request, version, broker, need)
    if first is None:
        return OUTSIDE
    known = entered_already(request.transactional_id, version, first, partitions, broker)
    if known is not None:
        return known
    if not is_transactional_id(request.transactional_id):
        return _refused(first, ErrorCode.INVALID_REQUEST, "there is no such transactional id")
    adds = version >= FIRST_THAT_ADDS
    kind = AddPartitions if adds else Verify
    wanted = kind(first.producer_id, first.producer_epoch, frozenset(partitions))
    try:
        async with asyncio.timeout(timeout_s):
            # Only a view that is read now shows the transaction that an older client is in: all of
            # its transactions may have the same epoch.
            ask = broker.transactions.ask
            answer = await ask(request.transactional_id, wanted, fresh=not adds)
    except (Unavailable, TimeoutError) as error:
        # Nothing is stored: the client tries again, as if replicas were missing.
        return _refused(first, ErrorCode.NOT_ENOUGH_REPLICAS, str(error))
    if answer.error is not None:
        return _refused(first, _code(answer.error, version), answer.error.name)
    return Entered(first.producer_id, first.producer_epoch, answer.serial, frozenset(partitions))


def entered_already(
    transactional_id: str,
    version: int,
    first: BatchHeader,
    partitions: Sequence[Partition],
    broker: Broker,
) -> Entered | None:
    """The transaction, if it is known without a call."""
    producer_id, epoch = first.producer_id, first.producer_epoch
    is_unique = version >= FIRST_THAT_ADDS
    serial = broker.transactions.entered(
        transactional_id, producer_id, epoch, partitions, is_unique
    )
    return Entered(producer_id, epoch, serial, partitions) if serial else None


def may_be_stray(records: memoryview | None, topic: Topic, number: int, broker: Broker) -> bool:
    """Whether it is a batch outside of the transaction that its producer perhaps has open in the
    partition. A process through which that transaction goes knows of it."""
    partition = partition_of(topic, number)
    if not records or partition is None:
        return False
    try:
        header = read_header(records)
    except CorruptBatch:
        return False
    producer_id = header.producer_id
    is_outside = producer_id >= 0 and not header.is_transactional
    return is_outside and broker.is_in_transaction(producer_id, partition)


async def why_stray(
    records: memoryview | None, topic: Topic, number: int, broker: Broker
) -> Refused | None:
    """Kafka stores no such batch: it would be a part of the transaction for no reader."""
    if not may_be_stray(records, topic, number, broker):
        return None
    partition = partition_of(topic, number)
    assert partition is not None
    assert records is not None
    try:
        head = await broker.log.head(partition)
    except UnknownPartition:
        return None  # the append says so
    except Unavailable as error:
        return Refused(ErrorCode.NOT_ENOUGH_REPLICAS, str(error))
    if read_header(records).producer_id not in head.open_transactions:
        return None
    return Refused(ErrorCode.INVALID_TXN_STATE, "its producer has a transaction open")


def transactional_header(records: memoryview | None) -> BatchHeader | None:
    """The header of a transactional batch; None for anything else."""
    if not records:
        return None
    try:
        header = read_header(records)
    except CorruptBatch:
        return None
    return header if header.is_transactional and header.producer_id >= 0 else None


def _refused(header: BatchHeader, code: ErrorCode, why: str) -> Entered:
    return Entered(header.producer_id, header.producer_epoch, 0, (), Refused(code, why))


def _code(error: TransactionError, version: int) -> ErrorCode:
    if error in (TransactionError.INVALID_TXN_STATE, TransactionError.TRANSACTION_ABORTABLE):
        is_known = version >= FIRST_WITH_ABORTABLE
        return ErrorCode.TRANSACTION_ABORTABLE if is_known else ErrorCode.INVALID_TXN_STATE
    if error is TransactionError.CONCURRENT_TRANSACTIONS and version < FIRST_THAT_ADDS:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return _CODES.get(error) or ErrorCode[error.name]


async def _transactional(
    request: ProduceRequest, version: int, broker: Broker, need: Need | None
) -> tuple[BatchHeader | None, list[Partition]]:
    """The first transactional batch, and the partitions that have one. What is not a partition, or
    not a batch, is refused later, for itself."""
    first: BatchHeader | None = None
    partitions: list[Partition] = []
    by_id = version >= FIRST_BY_ID
    async for topic in broker.work.pace(request.topic_data):
        key = topic.topic_id if by_id else topic.name
        found = broker.catalog.remembered(key) if need is None else None
        if found is None:
            looked_up = await topic_or_refusal(key, broker, ErrorCode.NOT_ENOUGH_REPLICAS, need)
            found = looked_up if isinstance(looked_up, Topic) else None
        async for entry in broker.work.pace(topic.partition_data):
            header = transactional_header(entry.records)
            partition = partition_of(found, entry.index) if found is not None else None
            if header is not None and partition is not None:
                first = first or header
                partitions.append(partition)
    return first, partitions
