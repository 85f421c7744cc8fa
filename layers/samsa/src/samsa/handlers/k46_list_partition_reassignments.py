"""ListPartitionReassignments (key 46): always empty, as partitions are never moved. Needs DESCRIBE
on the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.security.kinds import Operation
from samsa.topics.permitted import CLUSTER_REFUSED, may_cluster
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.list_partition_reassignments import RESPONSE

if TYPE_CHECKING:
    from samsa.wire.messages.list_partition_reassignments import (
        ListPartitionReassignmentsRequest,
        ListPartitionReassignmentsResponse,
    )


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS)
async def list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, context: Context, broker: Broker
) -> ListPartitionReassignmentsResponse:
    if not may_cluster(context.access, Operation.DESCRIBE):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return RESPONSE(error_code=code, error_message=CLUSTER_REFUSED)
    return RESPONSE(error_message=None)
