"""ListPartitionReassignments (key 46): always empty, as partitions are never moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
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
    return RESPONSE(error_message=None)
