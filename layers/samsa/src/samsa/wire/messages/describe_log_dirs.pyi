# Generated from describe_log_dirs.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class DescribableLogDirTopic(Row):
    topic: str
    partitions: list[int]
    def __init__(
        self,
        *,
        topic: str = ...,
        partitions: list[int] = ...,
    ) -> None: ...

class DescribeLogDirsRequest(Row):
    topics: list[DescribableLogDirTopic] | None
    def __init__(
        self,
        *,
        topics: list[DescribableLogDirTopic] | None = ...,
    ) -> None: ...

class DescribeLogDirsPartition(Row):
    partition_index: int
    partition_size: int
    offset_lag: int
    is_future_key: bool
    def __init__(
        self,
        *,
        partition_index: int = ...,
        partition_size: int = ...,
        offset_lag: int = ...,
        is_future_key: bool = ...,
    ) -> None: ...

class DescribeLogDirsTopic(Row):
    name: str
    partitions: list[DescribeLogDirsPartition]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[DescribeLogDirsPartition] = ...,
    ) -> None: ...

class DescribeLogDirsResult(Row):
    error_code: int
    log_dir: str
    topics: list[DescribeLogDirsTopic]
    total_bytes: int
    usable_bytes: int
    is_cordoned: bool
    def __init__(
        self,
        *,
        error_code: int = ...,
        log_dir: str = ...,
        topics: list[DescribeLogDirsTopic] = ...,
        total_bytes: int = ...,
        usable_bytes: int = ...,
        is_cordoned: bool = ...,
    ) -> None: ...

class DescribeLogDirsResponse(Row):
    throttle_time_ms: int
    error_code: int
    results: list[DescribeLogDirsResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        results: list[DescribeLogDirsResult] = ...,
    ) -> None: ...

TOPIC: StructOf[DescribableLogDirTopic]
REQUEST: MessageOf[DescribeLogDirsRequest]
PARTITION_RESPONSE: StructOf[DescribeLogDirsPartition]
TOPIC_RESPONSE: StructOf[DescribeLogDirsTopic]
RESULT: StructOf[DescribeLogDirsResult]
RESPONSE: MessageOf[DescribeLogDirsResponse]
