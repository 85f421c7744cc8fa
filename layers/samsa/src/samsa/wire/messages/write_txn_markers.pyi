# Generated from write_txn_markers.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class WritableTxnMarkerTopic(Row):
    name: str
    partition_indexes: list[int]
    def __init__(
        self,
        *,
        name: str = ...,
        partition_indexes: list[int] = ...,
    ) -> None: ...

class WritableTxnMarker(Row):
    producer_id: int
    producer_epoch: int
    transaction_result: bool
    topics: list[WritableTxnMarkerTopic]
    coordinator_epoch: int
    transaction_version: int
    def __init__(
        self,
        *,
        producer_id: int = ...,
        producer_epoch: int = ...,
        transaction_result: bool = ...,
        topics: list[WritableTxnMarkerTopic] = ...,
        coordinator_epoch: int = ...,
        transaction_version: int = ...,
    ) -> None: ...

class WriteTxnMarkersRequest(Row):
    markers: list[WritableTxnMarker]
    def __init__(
        self,
        *,
        markers: list[WritableTxnMarker] = ...,
    ) -> None: ...

class WritableTxnMarkerPartitionResult(Row):
    partition_index: int
    error_code: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
    ) -> None: ...

class WritableTxnMarkerTopicResult(Row):
    name: str
    partitions: list[WritableTxnMarkerPartitionResult]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[WritableTxnMarkerPartitionResult] = ...,
    ) -> None: ...

class WritableTxnMarkerResult(Row):
    producer_id: int
    topics: list[WritableTxnMarkerTopicResult]
    def __init__(
        self,
        *,
        producer_id: int = ...,
        topics: list[WritableTxnMarkerTopicResult] = ...,
    ) -> None: ...

class WriteTxnMarkersResponse(Row):
    markers: list[WritableTxnMarkerResult]
    def __init__(
        self,
        *,
        markers: list[WritableTxnMarkerResult] = ...,
    ) -> None: ...

TOPIC: StructOf[WritableTxnMarkerTopic]
MARKER: StructOf[WritableTxnMarker]
REQUEST: MessageOf[WriteTxnMarkersRequest]
PARTITION_RESULT: StructOf[WritableTxnMarkerPartitionResult]
TOPIC_RESULT: StructOf[WritableTxnMarkerTopicResult]
MARKER_RESULT: StructOf[WritableTxnMarkerResult]
RESPONSE: MessageOf[WriteTxnMarkersResponse]
