"""ListTransactions (key 66).

Behaviour: there are no transactions: an empty list, with the names of states that Kafka does not
know.

Versions: 1+ ask for a duration. 2+ for a pattern, which must be RE2's.
"""

from typing import Any

from samsa.groups.patterns import BadPattern, compile_pattern
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.list_transactions import RESPONSE

from .broker import Broker, Context, handles

STATES = {
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
    "PrepareEpochFence",
}  # fmt: skip


@handles(ApiKey.LIST_TRANSACTIONS)
async def list_transactions(request: Any, context: Context, broker: Broker) -> Any:
    pattern = request.transactional_id_pattern
    if pattern:
        try:
            compile_pattern(pattern)
        except BadPattern:
            return RESPONSE(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    return RESPONSE(unknown_state_filters=[s for s in request.state_filters if s not in STATES])
