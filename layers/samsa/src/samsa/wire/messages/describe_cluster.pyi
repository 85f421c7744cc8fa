# Generated from describe_cluster.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class DescribeClusterRequest(Row):
    include_cluster_authorized_operations: bool
    endpoint_type: int
    include_fenced_brokers: bool
    def __init__(
        self,
        *,
        include_cluster_authorized_operations: bool = ...,
        endpoint_type: int = ...,
        include_fenced_brokers: bool = ...,
    ) -> None: ...

class DescribeClusterBroker(Row):
    broker_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool
    def __init__(
        self,
        *,
        broker_id: int = ...,
        host: str = ...,
        port: int = ...,
        rack: str | None = ...,
        is_fenced: bool = ...,
    ) -> None: ...

class DescribeClusterResponse(Row):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    endpoint_type: int
    cluster_id: str
    controller_id: int
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        endpoint_type: int = ...,
        cluster_id: str = ...,
        controller_id: int = ...,
        brokers: list[DescribeClusterBroker] = ...,
        cluster_authorized_operations: int = ...,
    ) -> None: ...

REQUEST: MessageOf[DescribeClusterRequest]
BROKER: StructOf[DescribeClusterBroker]
RESPONSE: MessageOf[DescribeClusterResponse]
