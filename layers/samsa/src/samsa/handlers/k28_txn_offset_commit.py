"""TxnOffsetCommit (key 28).

Behaviour: stores offsets of a consumer group that become its committed offsets if the transaction
is committed. Until then OffsetFetch with `require_stable` refuses to answer for these partitions.
The group must be in the transaction. If the request names a member, that member must be of the
group's current generation (KIP-447). Needs WRITE on the transactional id, and READ on
the group and on each topic.

Versions: 3+ name a member. Before 5 the group was added by AddOffsetsToTxn; from 5 on this request
adds it (transaction version 2, KIP-890). 4+ know TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import UNAVAILABLE, code_of, is_group_id
from samsa.coordinator.offsets import committed, refusal
from samsa.coordinator.transaction_errors import ask
from samsa.groups import may_commit_transactional
from samsa.ports import ItemTooLarge, Offsets, Unavailable
from samsa.security.kinds import Operation
from samsa.topics.configs import Refused
from samsa.topics.permitted import may_group, may_transactional_id, need
from samsa.topics.resolve import topic_of
from samsa.transactions import AddGroup, VerifyGroup
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import txn_offset_commit as wire

if TYPE_CHECKING:
    from samsa.security.access import Access

FIRST_WITH_ABORTABLE = 4
FIRST_THAT_ADDS = 5


@handles(ApiKey.TXN_OFFSET_COMMIT)
async def txn_offset_commit(
    request: wire.TxnOffsetCommitRequest, context: Context, broker: Broker
) -> wire.TxnOffsetCommitResponse:
    offsets: Offsets = {}
    code = _why_forbidden(request, context.access)
    asked = broker.work.pace(request.topics)
    topics = [await _topic(topic, code, context, broker, offsets) async for topic in asked]
    if code:
        return wire.RESPONSE(topics=topics)
    code = ErrorCode.INVALID_GROUP_ID
    if is_group_id(request.group_id):
        code = await _commit(request, context, broker, offsets) if offsets else ErrorCode.NONE
    async for topic in broker.work.pace(topics if code else ()):
        for partition in topic.partitions:
            partition.error_code = partition.error_code or code
    return wire.RESPONSE(topics=topics)


def _why_forbidden(request: wire.TxnOffsetCommitRequest, access: Access) -> ErrorCode:
    if not may_transactional_id(access, Operation.WRITE, request.transactional_id):
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if not may_group(access, Operation.READ, request.group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    return ErrorCode.NONE


async def _topic(
    asked: wire.TxnOffsetCommitRequestTopic,
    why: ErrorCode,
    context: Context,
    broker: Broker,
    offsets: Offsets,
) -> wire.TxnOffsetCommitResponseTopic:
    """The answer for one topic, as far as it is known; offsets to store are added to `offsets`.
    `why`: the whole request is refused."""
    topic = None
    try:
        if not why:
            topic = await topic_of(asked.name, broker, need(context.access, Operation.READ))
    except Refused as refused:
        why = refused.code
    except Unavailable:
        why = UNAVAILABLE
    answer = wire.TOPIC_RESPONSE(name=asked.name)
    async for entry in broker.work.pace(asked.partitions):
        code = refusal(topic, entry, broker) if topic is not None else why
        if not code:
            offsets[asked.name, entry.partition_index] = committed(entry, broker)
        answer.partitions.append(
            wire.PARTITION_RESPONSE(partition_index=entry.partition_index, error_code=code)
        )
    return answer


async def _commit(
    request: wire.TxnOffsetCommitRequest, context: Context, broker: Broker, offsets: Offsets
) -> ErrorCode:
    kind = AddGroup if context.version >= FIRST_THAT_ADDS else VerifyGroup
    wanted = kind(request.producer_id, request.producer_epoch, request.group_id)
    answer, code = await ask(request.transactional_id, wanted, broker)
    if answer is None:
        return _translated(code, context.version)
    try:
        code = await _why_not(request, broker)
        if not code and not broker.group_totals.knows(request.group_id):
            code = await broker.group_totals.why_not(request.group_id)
        if code:
            return code
        stored = await broker.transactions.add_offsets(
            request.group_id, request.producer_id, answer.serial, offsets
        )
    except Unavailable:
        return UNAVAILABLE
    except ItemTooLarge:
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    return ErrorCode.NONE if stored else _translated(ErrorCode.INVALID_TXN_STATE, context.version)


def _translated(code: ErrorCode, version: int) -> ErrorCode:
    """As Kafka's group coordinator passes on what the transaction coordinator says."""
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code in (ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE):
        is_known = version >= FIRST_WITH_ABORTABLE
        return ErrorCode.TRANSACTION_ABORTABLE if is_known else ErrorCode.INVALID_TXN_STATE
    return code


async def _why_not(request: wire.TxnOffsetCommitRequest, broker: Broker) -> ErrorCode:
    group, _ = await broker.coordinator.look(request.group_id)
    return code_of(
        may_commit_transactional(
            group,
            request.member_id,
            request.group_instance_id,
            request.generation_id,
            broker.stores.clock.now_ms(),
        )
    )
