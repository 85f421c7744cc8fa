"""ListTransactions (key 66).

Behaviour: there are no transactions. The answer is an empty list, and the state filters that are
not states of Kafka.

Versions: 1+ filter by duration. 2+ by a pattern, which must be valid in RE2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.groups.patterns import BadPattern, compile_pattern
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.list_transactions import RESPONSE

if TYPE_CHECKING:
    from samsa.wire.messages.list_transactions import (
        ListTransactionsRequest,
        ListTransactionsResponse,
    )

STATES = {
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
    "PrepareEpochFence",
}  # fmt: skip


@handles(ApiKey.LIST_TRANSACTIONS)
async def list_transactions(
    request: ListTransactionsRequest, context: Context, broker: Broker
) -> ListTransactionsResponse:
    pattern = request.transactional_id_pattern
    if pattern:
        try:
            compile_pattern(pattern)
        except BadPattern:
            return RESPONSE(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    return RESPONSE(unknown_state_filters=[s for s in request.state_filters if s not in STATES])
