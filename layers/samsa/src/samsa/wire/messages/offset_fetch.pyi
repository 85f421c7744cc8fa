# Generated from offset_fetch.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, StructOf

class OffsetFetchRequestTopic(Row):
    name: str
    partition_indexes: list[int]
    def __init__(
        self,
        *,
        name: str = ...,
        partition_indexes: list[int] = ...,
    ) -> None: ...

class OffsetFetchRequestTopics(Row):
    name: str
    topic_id: uuid.UUID
    partition_indexes: list[int]
    def __init__(
        self,
        *,
        name: str = ...,
        topic_id: uuid.UUID = ...,
        partition_indexes: list[int] = ...,
    ) -> None: ...

class OffsetFetchRequestGroup(Row):
    group_id: str
    member_id: str | None
    member_epoch: int
    topics: list[OffsetFetchRequestTopics] | None
    def __init__(
        self,
        *,
        group_id: str = ...,
        member_id: str | None = ...,
        member_epoch: int = ...,
        topics: list[OffsetFetchRequestTopics] | None = ...,
    ) -> None: ...

class OffsetFetchRequest(Row):
    group_id: str
    topics: list[OffsetFetchRequestTopic] | None
    groups: list[OffsetFetchRequestGroup]
    require_stable: bool
    def __init__(
        self,
        *,
        group_id: str = ...,
        topics: list[OffsetFetchRequestTopic] | None = ...,
        groups: list[OffsetFetchRequestGroup] = ...,
        require_stable: bool = ...,
    ) -> None: ...

class OffsetFetchResponsePartition(Row):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        committed_offset: int = ...,
        committed_leader_epoch: int = ...,
        metadata: str | None = ...,
        error_code: int = ...,
    ) -> None: ...

class OffsetFetchResponseTopic(Row):
    name: str
    partitions: list[OffsetFetchResponsePartition]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[OffsetFetchResponsePartition] = ...,
    ) -> None: ...

class OffsetFetchResponsePartitions(Row):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        committed_offset: int = ...,
        committed_leader_epoch: int = ...,
        metadata: str | None = ...,
        error_code: int = ...,
    ) -> None: ...

class OffsetFetchResponseTopics(Row):
    name: str
    topic_id: uuid.UUID
    partitions: list[OffsetFetchResponsePartitions]
    def __init__(
        self,
        *,
        name: str = ...,
        topic_id: uuid.UUID = ...,
        partitions: list[OffsetFetchResponsePartitions] = ...,
    ) -> None: ...

class OffsetFetchResponseGroup(Row):
    group_id: str
    topics: list[OffsetFetchResponseTopics]
    error_code: int
    def __init__(
        self,
        *,
        group_id: str = ...,
        topics: list[OffsetFetchResponseTopics] = ...,
        error_code: int = ...,
    ) -> None: ...

class OffsetFetchResponse(Row):
    throttle_time_ms: int
    topics: list[OffsetFetchResponseTopic]
    error_code: int
    groups: list[OffsetFetchResponseGroup]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[OffsetFetchResponseTopic] = ...,
        error_code: int = ...,
        groups: list[OffsetFetchResponseGroup] = ...,
    ) -> None: ...

TOPIC: StructOf[OffsetFetchRequestTopic]
GROUP_TOPIC: StructOf[OffsetFetchRequestTopics]
GROUP: StructOf[OffsetFetchRequestGroup]
REQUEST: MessageOf[OffsetFetchRequest]
PARTITION_RESPONSE: StructOf[OffsetFetchResponsePartition]
TOPIC_RESPONSE: StructOf[OffsetFetchResponseTopic]
GROUP_PARTITION_RESPONSE: StructOf[OffsetFetchResponsePartitions]
GROUP_TOPIC_RESPONSE: StructOf[OffsetFetchResponseTopics]
GROUP_RESPONSE: StructOf[OffsetFetchResponseGroup]
RESPONSE: MessageOf[OffsetFetchResponse]
