"""InitProducerId (key 22).

Behaviour: an idempotent producer gets a new id that was never used before, at epoch 0. Ids are
taken from the ledger in blocks. Transactional ids are not supported yet, and get an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.init_producer_id import RESPONSE

if TYPE_CHECKING:
    from samsa.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

BLOCK = 100


@handles(ApiKey.INIT_PRODUCER_ID)
async def init_producer_id(
    request: InitProducerIdRequest, context: Context, broker: Broker
) -> InitProducerIdResponse:
    if request.transactional_id is not None:
        return RESPONSE(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    try:
        producer_id = await _next_id(broker)
    except Unavailable:
        return RESPONSE(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return RESPONSE(producer_id=producer_id, producer_epoch=0)


async def _next_id(broker: Broker) -> int:
    if not broker.producer_ids:
        first = await broker.stores.ledger.next_producer_ids(BLOCK)
        broker.producer_ids = range(first, first + BLOCK)
    producer_id, broker.producer_ids = broker.producer_ids[0], broker.producer_ids[1:]
    return producer_id
