"""The base of every part of the DynamoDB ledger: a table, and a count of the calls."""

from collections import defaultdict
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

from samsa.aws.head_items import read_head
from samsa.aws.items import Item, head_key
from samsa.aws.table import Table
from samsa.ports import Head, Partition, UnknownPartition

Self = TypeVar("Self", bound="TableCalls")
P = ParamSpec("P")
R = TypeVar("R")
Method: TypeAlias = Callable[Concatenate[Self, P], Coroutine[Any, Any, R]]


class Seen(NamedTuple):
    """What is remembered of a head."""

    settled_to: int
    next_offset: int
    aborted_to: int
    aborted_from: int = 0


class TableCalls:
    def __init__(self, table: Table) -> None:
        self.table = table
        self.calls: dict[str, int] = defaultdict(int)
        self._seen: dict[Partition, Seen] = {}
        """Of the head that was read last: readers read the head first."""

    def _head_of(self, partition: Partition, item: Item) -> Head:
        head = read_head(partition, item)
        self._remember(partition, head)
        return head

    def _remember(self, partition: Partition, head: Head) -> None:
        self._seen[partition] = Seen(
            head.settled_to, head.next_offset, head.aborted_to, head.aborted_from
        )

    async def _head_item(self, partition: Partition) -> Item:
        item = await self.table.get(head_key(partition))
        if item is None:
            raise UnknownPartition(str(partition))
        return item

    async def _get_head(self, partition: Partition) -> Head:
        return self._head_of(partition, await self._head_item(partition))


def counted(method: Method[Self, P, R]) -> Method[Self, P, R]:
    @wraps(method)
    async def call(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        self.calls[method.__name__] += 1
        return await method(self, *args, **kwargs)

    return call
