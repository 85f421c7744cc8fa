"""ListPartitionReassignments (key 46): nothing has to be moved, so none is ever under way."""

from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.messages.list_partition_reassignments import RESPONSE

from .broker import Broker, Context, handles


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS)
async def list_partition_reassignments(request: Any, context: Context, broker: Broker) -> Any:
    return RESPONSE(error_message=None)
