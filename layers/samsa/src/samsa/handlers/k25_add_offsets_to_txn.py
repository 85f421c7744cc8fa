"""AddOffsetsToTxn (key 25).

Behaviour: adds a consumer group to the ongoing transaction of a transactional id, and begins it if
there is none. TxnOffsetCommit may follow. Needs WRITE on the transactional id, READ on the group.

Versions: before 2 a fenced producer gets INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import is_group_id
from samsa.coordinator.transaction_errors import ask, for_old_clients
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_group, may_transactional_id
from samsa.transactions import AddGroup
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import add_offsets_to_txn as wire

FIRST_WITH_FENCED = 2


@handles(ApiKey.ADD_OFFSETS_TO_TXN)
async def add_offsets_to_txn(
    request: wire.AddOffsetsToTxnRequest, context: Context, broker: Broker
) -> wire.AddOffsetsToTxnResponse:
    access = context.access
    if not may_transactional_id(access, Operation.WRITE, request.transactional_id):
        return wire.RESPONSE(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if not may_group(access, Operation.READ, request.group_id):
        return wire.RESPONSE(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not is_group_id(request.group_id):
        return wire.RESPONSE(error_code=ErrorCode.INVALID_GROUP_ID)
    wanted = AddGroup(request.producer_id, request.producer_epoch, request.group_id)
    _, code = await ask(request.transactional_id, wanted, broker)
    return wire.RESPONSE(error_code=for_old_clients(code, context.version >= FIRST_WITH_FENCED))
