# Generated from init_producer_id.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row

class InitProducerIdRequest(Row):
    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int
    producer_epoch: int
    def __init__(
        self,
        *,
        transactional_id: str | None = ...,
        transaction_timeout_ms: int = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
    ) -> None: ...

class InitProducerIdResponse(Row):
    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
    ) -> None: ...

REQUEST: MessageOf[InitProducerIdRequest]
RESPONSE: MessageOf[InitProducerIdResponse]
