"""DescribeTransactions (key 65).

Behaviour: each transactional id as its coordinator has it. An id that is not known gets
TRANSACTIONAL_ID_NOT_FOUND; an empty id gets INVALID_REQUEST. Partitions of topics that were deleted
meanwhile are left out. Needs DESCRIBE on each transactional id; topics without DESCRIBE are left
out.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.transaction_errors import UNAVAILABLE, is_transactional_id
from samsa.ports import Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.permitted import is_visible, may_transactional_id
from samsa.transactions import Transaction
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_transactions as wire

if TYPE_CHECKING:
    from samsa.security.access import Access


@handles(ApiKey.DESCRIBE_TRANSACTIONS)
async def describe_transactions(
    request: wire.DescribeTransactionsRequest, context: Context, broker: Broker
) -> wire.DescribeTransactionsResponse:
    ids = list(dict.fromkeys(request.transactional_ids))
    found = await broker.work.some_at_once(ids, partial(_state, context.access, broker))
    by_id = dict(zip(ids, found, strict=True))
    asked = broker.work.pace(request.transactional_ids)
    return wire.RESPONSE(transaction_states=[by_id[one] async for one in asked])


async def _state(access: Access, broker: Broker, transactional_id: str) -> wire.TransactionState:
    if not may_transactional_id(access, Operation.DESCRIBE, transactional_id):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return wire.STATE(error_code=code, transactional_id=transactional_id)
    code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    if not transactional_id:
        code = ErrorCode.INVALID_REQUEST
    elif is_transactional_id(transactional_id):
        try:
            found = await broker.transactions.look(transactional_id)
            if found is not None:
                return await _described(transactional_id, found, access, broker)
        except Unavailable:
            code = UNAVAILABLE
    return wire.STATE(error_code=code, transactional_id=transactional_id)


async def _described(
    transactional_id: str, found: Transaction, access: Access, broker: Broker
) -> wire.TransactionState:
    return wire.STATE(
        transactional_id=transactional_id,
        transaction_state=found.state.value,
        transaction_timeout_ms=found.timeout_ms,
        transaction_start_time_ms=found.started_at,
        producer_id=found.producer_id,
        producer_epoch=found.epoch,
        topics=await _topics(found, access, broker),
    )


async def _topics(found: Transaction, access: Access, broker: Broker) -> list[wire.TopicData]:
    numbers: dict[str, list[int]] = {}
    for topic_id, number in sorted(found.partitions):
        topic = await broker.catalog.with_id(topic_id)
        if topic is not None and is_visible(
            access, Operation.DESCRIBE, ResourceType.TOPIC, topic.name
        ):
            numbers.setdefault(topic.name, []).append(number)
    return [wire.TOPIC(topic=name, partitions=some) for name, some in numbers.items()]
