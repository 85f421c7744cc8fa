"""DescribeTransactions (key 65).

Behaviour: there are no transactions. Each id gets TRANSACTIONAL_ID_NOT_FOUND, as from its
coordinator in Kafka; an empty id gets INVALID_REQUEST.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_transactions import RESPONSE, STATE

if TYPE_CHECKING:
    from samsa.wire.messages.describe_transactions import (
        DescribeTransactionsRequest,
        DescribeTransactionsResponse,
        TransactionState,
    )


@handles(ApiKey.DESCRIBE_TRANSACTIONS)
async def describe_transactions(
    request: DescribeTransactionsRequest, context: Context, broker: Broker
) -> DescribeTransactionsResponse:
    asked = broker.work.pace(request.transactional_ids)
    return RESPONSE(transaction_states=[_state(one) async for one in asked])


def _state(transactional_id: str) -> TransactionState:
    unknown = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    code = unknown if transactional_id else ErrorCode.INVALID_REQUEST
    return STATE(error_code=code, transactional_id=transactional_id)
