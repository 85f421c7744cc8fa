# Generated from list_transactions.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class ListTransactionsRequest(Row):
    state_filters: list[str]
    producer_id_filters: list[int]
    duration_filter: int
    transactional_id_pattern: str | None
    def __init__(
        self,
        *,
        state_filters: list[str] = ...,
        producer_id_filters: list[int] = ...,
        duration_filter: int = ...,
        transactional_id_pattern: str | None = ...,
    ) -> None: ...

class TransactionState(Row):
    transactional_id: str
    producer_id: int
    transaction_state: str
    def __init__(
        self,
        *,
        transactional_id: str = ...,
        producer_id: int = ...,
        transaction_state: str = ...,
    ) -> None: ...

class ListTransactionsResponse(Row):
    throttle_time_ms: int
    error_code: int
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        unknown_state_filters: list[str] = ...,
        transaction_states: list[TransactionState] = ...,
    ) -> None: ...

REQUEST: MessageOf[ListTransactionsRequest]
STATE: StructOf[TransactionState]
RESPONSE: MessageOf[ListTransactionsResponse]
