# Generated from end_txn.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row

class EndTxnRequest(Row):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool
    def __init__(
        self,
        *,
        transactional_id: str = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        committed: bool = ...,
    ) -> None: ...

class EndTxnResponse(Row):
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

REQUEST: MessageOf[EndTxnRequest]
RESPONSE: MessageOf[EndTxnResponse]
