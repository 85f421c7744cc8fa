"""ListTransactions (key 66).

Behaviour: the transactional ids whose coordinator is this process (tools ask each node), with their
states; filtered by state, by producer id, by how long a transaction has been open, and by a
pattern. State filters that are not states of Kafka are answered as such. Lists what the client may
DESCRIBE.

Versions: 1+ filter by duration. 2+ by a pattern, which must be valid in RE2.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.transaction_errors import UNAVAILABLE
from samsa.groups.patterns import BadPattern, compile_pattern
from samsa.ports import Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.permitted import is_visible
from samsa.transactions import Transaction
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import list_transactions as wire

STATES = {
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
    "PrepareEpochFence",
}  # fmt: skip


@handles(ApiKey.LIST_TRANSACTIONS)
async def list_transactions(
    request: wire.ListTransactionsRequest, context: Context, broker: Broker
) -> wire.ListTransactionsResponse:
    compiled, access = None, context.access
    if request.transactional_id_pattern:
        try:
            compiled = compile_pattern(request.transactional_id_pattern)
        except BadPattern:
            return wire.RESPONSE(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    try:
        ids = [
            one
            async for one in broker.work.pace(await broker.transactions.all_ids())
            if (context.asks_all or broker.nodes.coordinates(one))
            and (compiled is None or compiled.fullmatch(one.encode()))
            and is_visible(access, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, one)
        ]
        found = await broker.work.some_at_once(ids, partial(_listed, request, broker))
    except Unavailable:
        return wire.RESPONSE(error_code=UNAVAILABLE)
    return wire.RESPONSE(
        unknown_state_filters=[s for s in request.state_filters if s not in STATES],
        transaction_states=[one for one in found if one is not None],
    )


async def _listed(
    request: wire.ListTransactionsRequest, broker: Broker, transactional_id: str
) -> wire.TransactionState | None:
    found = await broker.transactions.look(transactional_id)
    if found is None or not _fits(request, found, broker.stores.clock.now_ms()):
        return None
    return wire.STATE(
        transactional_id=transactional_id,
        producer_id=found.producer_id,
        transaction_state=found.state.value,
    )


def _fits(request: wire.ListTransactionsRequest, found: Transaction, now_ms: int) -> bool:
    def is_among(wanted: list[Any], value: Any) -> bool:
        return not wanted or value in wanted

    # As in Kafka, whatever its state: one that has not begun counts as begun in 1969.
    is_long = now_ms - found.started_at > request.duration_filter
    return (
        is_among(request.state_filters, found.state.value)
        and is_among(request.producer_id_filters, found.producer_id)
        and (request.duration_filter < 0 or is_long)
    )
