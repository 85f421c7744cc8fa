"""EndTxn (key 26).

Behaviour: commits or aborts the ongoing transaction. A process answers after the decision, as Kafka
does, and writes the markers and commits the offsets then. A function does that before it answers.
If a store does not answer after the decision, the next request for the transactional id, or a
reader, finishes the transaction. Repeating a request that succeeded succeeds. Needs WRITE on the
transactional id.

Versions: before 2 a fenced producer gets INVALID_PRODUCER_EPOCH. 5+ (transaction version 2,
KIP-890) begin a new epoch with each transaction, and answer it.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.transaction_errors import ask, for_old_clients
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_transactional_id
from samsa.transactions import EndTransaction
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import end_txn as wire

FIRST_WITH_FENCED = 2
FIRST_THAT_BUMPS = 5


@handles(ApiKey.END_TXN)
async def end_txn(
    request: wire.EndTxnRequest, context: Context, broker: Broker
) -> wire.EndTxnResponse:
    if not may_transactional_id(context.access, Operation.WRITE, request.transactional_id):
        return wire.RESPONSE(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    bumps = context.version >= FIRST_THAT_BUMPS
    wanted = EndTransaction(request.producer_id, request.producer_epoch, request.committed, bumps)
    answer, code = await ask(request.transactional_id, wanted, broker)
    if answer is None:
        return wire.RESPONSE(error_code=for_old_clients(code, context.version >= FIRST_WITH_FENCED))
    return wire.RESPONSE(producer_id=answer.producer_id, producer_epoch=answer.epoch)
