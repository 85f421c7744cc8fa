# Generated from add_offsets_to_txn.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row

class AddOffsetsToTxnRequest(Row):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str
    def __init__(
        self,
        *,
        transactional_id: str = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        group_id: str = ...,
    ) -> None: ...

class AddOffsetsToTxnResponse(Row):
    throttle_time_ms: int
    error_code: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
    ) -> None: ...

REQUEST: MessageOf[AddOffsetsToTxnRequest]
RESPONSE: MessageOf[AddOffsetsToTxnResponse]
