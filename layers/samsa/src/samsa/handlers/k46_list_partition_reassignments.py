"""ListPartitionReassignments (key 46): always empty, as partitions are never moved. Needs DESCRIBE
on the cluster."""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.security.kinds import Operation
from samsa.topics.permitted import CLUSTER_REFUSED, may_cluster
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import list_partition_reassignments as wire


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS)
async def list_partition_reassignments(
    request: wire.ListPartitionReassignmentsRequest, context: Context, broker: Broker
) -> wire.ListPartitionReassignmentsResponse:
    if not may_cluster(context.access, Operation.DESCRIBE):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return wire.RESPONSE(error_code=code, error_message=CLUSTER_REFUSED)
    return wire.RESPONSE(error_message=None)
