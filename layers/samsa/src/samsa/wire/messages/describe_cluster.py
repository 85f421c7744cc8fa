"""DescribeCluster (key 60), versions 0-2."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT8, INT16, INT32, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "DescribeClusterRequest",
    Field("include_cluster_authorized_operations", BOOLEAN),
    Field("endpoint_type", INT8, since=1, default=1),
    Field("include_fenced_brokers", BOOLEAN, since=2),
    flexible_since=0,
)

BROKER = Struct(
    "DescribeClusterBroker",
    Field("broker_id", INT32),
    Field("host", STRING),
    Field("port", INT32),
    Field("rack", STRING, nullable=True, default=None),
    Field("is_fenced", BOOLEAN, since=2),
)
RESPONSE = Message(
    "DescribeClusterResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True, default=None),
    Field("endpoint_type", INT8, since=1, default=1),
    Field("cluster_id", STRING),
    Field("controller_id", INT32, default=-1),
    Array("brokers", BROKER),
    Field("cluster_authorized_operations", INT32, default=-(2**31)),
    flexible_since=0,
)
