"""InitProducerId (key 22).

Behaviour: an idempotent producer gets a new id that was never used before, at epoch 0. Ids are
taken from the ledger in blocks. A transactional producer gets the id of its transactional id, with
a new epoch, which fences all producers before it; an open transaction of theirs is aborted first.

Needs WRITE on the transactional id. Without one: IDEMPOTENT_WRITE on the cluster, or WRITE on any
topic.

Versions: before 4 a fenced producer gets INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.transaction_errors import ask, for_old_clients
from samsa.ports import Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.permitted import may_quietly, may_transactional_id
from samsa.transactions import Init
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import init_producer_id as wire

if TYPE_CHECKING:
    from samsa.security.access import Access

FIRST_WITH_FENCED = 4
NO_EPOCH = -1


@handles(ApiKey.INIT_PRODUCER_ID)
async def init_producer_id(
    request: wire.InitProducerIdRequest, context: Context, broker: Broker
) -> wire.InitProducerIdResponse:
    code = _why_forbidden(request.transactional_id, context.access)
    if code:
        return _refusal(code)
    if request.transactional_id is not None:
        return await _transactional(request, request.transactional_id, context, broker)
    try:
        producer_id = await broker.next_producer_id()
    except Unavailable:
        return _refusal(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return wire.RESPONSE(producer_id=producer_id, producer_epoch=0)


def _why_forbidden(transactional_id: str | None, access: Access) -> ErrorCode:
    if not access.is_limited:
        return ErrorCode.NONE
    if transactional_id is not None:
        may = may_transactional_id(access, Operation.WRITE, transactional_id)
        return ErrorCode.NONE if may else ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    may = may_quietly(access, Operation.IDEMPOTENT_WRITE) or access.may_on_any(
        Operation.WRITE, ResourceType.TOPIC
    )
    return ErrorCode.NONE if may else ErrorCode.CLUSTER_AUTHORIZATION_FAILED


async def _transactional(
    request: wire.InitProducerIdRequest, transactional_id: str, context: Context, broker: Broker
) -> wire.InitProducerIdResponse:
    wanted = Init(request.transaction_timeout_ms, request.producer_id, request.producer_epoch)
    answer, code = await ask(transactional_id, wanted, broker)
    if answer is None:
        return _refusal(for_old_clients(code, context.version >= FIRST_WITH_FENCED))
    return wire.RESPONSE(producer_id=answer.producer_id, producer_epoch=answer.epoch)


def _refusal(code: ErrorCode) -> wire.InitProducerIdResponse:
    return wire.RESPONSE(error_code=code, producer_epoch=NO_EPOCH)
