"""Writes to the items of groups: parts of transactions, and how many fit into one."""

from collections.abc import Iterator, Sequence

from samsa.aws.calls import TableCalls
from samsa.aws.group_items import Expression, name_key, naming
from samsa.aws.items import Item
from samsa.aws.table import TRANSACTION
from samsa.ports.bounds import TRANSACTION_BYTES


def transactions_of(writes: Sequence[Item], most: int = TRANSACTION) -> Iterator[list[Item]]:
    """Split writes into transactions, each with as many as DynamoDB allows."""
    some: list[Item] = []
    left = TRANSACTION_BYTES
    for write in writes:
        size = len(str(write).encode())
        if some and (len(some) == most or size > left):
            yield some
            some, left = [], TRANSACTION_BYTES
        some.append(write)
        left -= size
    if some:
        yield some


class GroupWrites(TableCalls):
    def _write(self, kind: str, expression: Expression | None = None, **parameters: Item) -> Item:
        """A part of a transaction."""
        extra = expression.parameters() if expression else {}
        return {kind: {"TableName": self.table.name, **parameters, **extra}}

    async def _do(self, writes: Sequence[Item]) -> None:
        """All or nothing; raises ConditionFailed. One alone is no transaction: that costs twice."""
        if len(writes) == 1:
            ((kind, parameters),) = writes[0].items()
            await self.table.send(f"{kind.lower()}_item", **parameters)
        else:
            await self.table.transact(writes)

    def _naming(self, group_id: str) -> Item:
        return self._write("Update", naming(group_id), Key=name_key(group_id))
