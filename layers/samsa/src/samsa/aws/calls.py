"""What every part of the DynamoDB ledger has: a table, and a count of the calls."""

from collections import defaultdict
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from samsa.aws.errors import ConditionFailed
from samsa.aws.items import Item, extent_item, head_key, read_head
from samsa.aws.table import Table
from samsa.ports import Extent, Head, Partition, UnknownPartition

Self = TypeVar("Self", bound="TableCalls")
P = ParamSpec("P")
R = TypeVar("R")
Method: TypeAlias = Callable[Concatenate[Self, P], Coroutine[Any, Any, R]]


class TableCalls:
    def __init__(self, table: Table) -> None:
        self.table = table
        self.calls: dict[str, int] = defaultdict(int)
        self._settled_to: dict[Partition, int] = {}
        """As the last head of each partition said that was read: readers begin with the head."""

    def _head_of(self, partition: Partition, item: Item) -> Head:
        head = read_head(item)
        self._settled_to[partition] = head.settled_to
        return head

    async def _get_head(self, partition: Partition) -> Head:
        item = await self.table.get(head_key(partition))
        if item is None:
            raise UnknownPartition(str(partition))
        return self._head_of(partition, item)

    async def _add_extent(self, partition: Partition, extent: Extent) -> None:
        with suppress(ConditionFailed):
            await self.table.put_if(extent_item(partition, extent), "attribute_not_exists(pk)")


def counted(method: Method[Self, P, R]) -> Method[Self, P, R]:
    @wraps(method)
    async def call(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        self.calls[method.__name__] += 1
        return await method(self, *args, **kwargs)

    return call
