# Generated from describe_transactions.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class DescribeTransactionsRequest(Row):
    transactional_ids: list[str]
    def __init__(
        self,
        *,
        transactional_ids: list[str] = ...,
    ) -> None: ...

class TopicData(Row):
    topic: str
    partitions: list[int]
    def __init__(
        self,
        *,
        topic: str = ...,
        partitions: list[int] = ...,
    ) -> None: ...

class TransactionState(Row):
    error_code: int
    transactional_id: str
    transaction_state: str
    transaction_timeout_ms: int
    transaction_start_time_ms: int
    producer_id: int
    producer_epoch: int
    topics: list[TopicData]
    def __init__(
        self,
        *,
        error_code: int = ...,
        transactional_id: str = ...,
        transaction_state: str = ...,
        transaction_timeout_ms: int = ...,
        transaction_start_time_ms: int = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        topics: list[TopicData] = ...,
    ) -> None: ...

class DescribeTransactionsResponse(Row):
    throttle_time_ms: int
    transaction_states: list[TransactionState]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        transaction_states: list[TransactionState] = ...,
    ) -> None: ...

REQUEST: MessageOf[DescribeTransactionsRequest]
TOPIC: StructOf[TopicData]
STATE: StructOf[TransactionState]
RESPONSE: MessageOf[DescribeTransactionsResponse]
