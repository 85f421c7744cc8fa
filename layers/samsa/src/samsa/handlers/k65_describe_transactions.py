"""DescribeTransactions (key 65).

Behaviour: there are no transactions. TRANSACTIONAL_ID_NOT_FOUND for each id, as from the Kafka that
coordinates it; INVALID_REQUEST for an empty one.
"""

from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_transactions import RESPONSE, STATE

from .broker import Broker, Context, handles


@handles(ApiKey.DESCRIBE_TRANSACTIONS)
async def describe_transactions(request: Any, context: Context, broker: Broker) -> Any:
    asked = broker.work.pace(request.transactional_ids)
    return RESPONSE(transaction_states=[_state(one) async for one in asked])


def _state(transactional_id: str) -> Any:
    unknown = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    code = unknown if transactional_id else ErrorCode.INVALID_REQUEST
    return STATE(error_code=code, transactional_id=transactional_id)
