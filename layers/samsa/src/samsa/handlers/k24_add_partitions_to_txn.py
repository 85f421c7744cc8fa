"""AddPartitionsToTxn (key 24).

Behaviour: adds partitions to the ongoing transaction of a transactional id, and begins it if there
is none. All or nothing: if one partition does not exist, the others get OPERATION_NOT_ATTEMPTED.
Needs WRITE on the transactional id and on each topic.

Versions: 0-3 have one transaction. 4+ have several, and may only ask whether the partitions are in
the transaction; Kafka's brokers use them among themselves, and they need CLUSTER_ACTION on the
cluster instead. Before 2 a fenced producer gets
INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from functools import partial

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.transaction_errors import UNAVAILABLE, ask, for_old_clients
from samsa.ports import Partition, Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.catalog import partition_of
from samsa.topics.configs import Refused
from samsa.topics.internal import INTERNAL
from samsa.topics.permitted import Need, may_cluster, may_transactional_id, need, refusal
from samsa.topics.resolve import topic_of
from samsa.transactions import AddPartitions, Verify
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import add_partitions_to_txn as wire

LAST_WITH_ONE = 3
FIRST_WITH_FENCED = 2

Codes = dict[tuple[str, int], ErrorCode]
"""By topic name and partition."""


@handles(ApiKey.ADD_PARTITIONS_TO_TXN)
async def add_partitions_to_txn(
    request: wire.AddPartitionsToTxnRequest, context: Context, broker: Broker
) -> wire.AddPartitionsToTxnResponse:
    if context.version <= LAST_WITH_ONE:
        alone = wire.TRANSACTION(
            transactional_id=request.v3_and_below_transactional_id,
            producer_id=request.v3_and_below_producer_id,
            producer_epoch=request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
        result = await _add(context, broker, alone)
        return wire.RESPONSE(results_by_topic_v3_and_below=result.topic_results)
    if not may_cluster(context.access, Operation.CLUSTER_ACTION):
        return wire.RESPONSE(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    each = partial(_add, context, broker)
    return wire.RESPONSE(results_by_transaction=await broker.work.each(request.transactions, each))


async def _add(
    context: Context, broker: Broker, asked: wire.AddPartitionsToTxnTransaction
) -> wire.AddPartitionsToTxnResult:
    access = context.access
    unknown: Codes = {}
    is_client = context.version <= LAST_WITH_ONE
    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if not is_client or may_transactional_id(access, Operation.WRITE, asked.transactional_id):
        needs = need(access, Operation.WRITE) if is_client else None
        unknown, code = await _enter(asked, needs, context, broker)
    topics = broker.work.pace(asked.topics)
    results = [await _result(topic, unknown, code, broker) async for topic in topics]
    return wire.RESULT(transactional_id=asked.transactional_id, topic_results=results)


async def _enter(
    asked: wire.AddPartitionsToTxnTransaction, needs: Need | None, context: Context, broker: Broker
) -> tuple[Codes, ErrorCode]:
    """Why single partitions are refused; and the code of all others."""
    is_client = context.version <= LAST_WITH_ONE
    unknown, partitions = await _resolve(asked.topics, needs, is_client, broker)
    code = ErrorCode.OPERATION_NOT_ATTEMPTED
    if not unknown:
        kind = Verify if asked.verify_only else AddPartitions
        wanted = kind(asked.producer_id, asked.producer_epoch, frozenset(partitions))
        _, code = await ask(asked.transactional_id, wanted, broker)
        code = for_old_clients(code, context.version >= FIRST_WITH_FENCED)
    return unknown, code


async def _resolve(
    topics: list[wire.AddPartitionsToTxnTopic], needs: Need | None, is_client: bool, broker: Broker
) -> tuple[Codes, list[Partition]]:
    """Why some may not be added, and those that may. No client writes to internal topics."""
    unknown: Codes = {}
    partitions: list[Partition] = []
    async for topic in broker.work.pace(topics):
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        try:
            if is_client and topic.name in INTERNAL:
                raise refusal(ResourceType.TOPIC)
            found = await topic_of(topic.name, broker, needs)
        except Refused as refused:
            found, code = None, refused.code
        except Unavailable:
            found, code = None, UNAVAILABLE
        async for number in broker.work.pace(topic.partitions):
            partition = partition_of(found, number) if found is not None else None
            if partition is None:
                unknown[topic.name, number] = code
            else:
                partitions.append(partition)
    return unknown, partitions


async def _result(
    topic: wire.AddPartitionsToTxnTopic, unknown: Codes, code: ErrorCode, broker: Broker
) -> wire.AddPartitionsToTxnTopicResult:
    results = [
        wire.PARTITION_RESULT(
            partition_index=number,
            partition_error_code=unknown.get((topic.name, number), code),
        )
        async for number in broker.work.pace(topic.partitions)
    ]
    return wire.TOPIC_RESULT(name=topic.name, results_by_partition=results)
