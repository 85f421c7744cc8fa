"""Transactional ids in DynamoDB, in the ledger's table.

| pk               | sk    | what                                                                |
|------------------|-------|---------------------------------------------------------------------|
| T#{id}           | STATE | the coordinator's state, changed by compare-and-swap                |
| TRANSACTIONS     | {id}  | its name, for the list of all                                       |
| TP#{producer id} | NAME  | a pointer: the transactional id that was given this producer id     |

Each step of a transaction is one UpdateItem, and if it is refused, the answer brings the item. The
name and the pointer are written with the first state. A later state may have another producer id:
then the update is refused, and repeated in a transaction that writes the new pointer too. Pointers
are kept for the present producer id and the one before it.
"""

from samsa.aws.calls import counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.group_items import version_is
from samsa.aws.group_writes import GroupWrites
from samsa.aws.items import Item
from samsa.aws.transaction_items import (
    next_producer,
    next_state,
    pointer_item,
    pointer_key,
    read_producer_ids,
    read_transaction,
    transaction_item,
    transaction_key,
    transaction_name_item,
    transaction_name_key,
)
from samsa.ports import TransactionItem
from samsa.ports.bounds import raise_if_large_transaction

DELETED = TransactionItem(0, -1, b"")


class TransactionCalls(GroupWrites):
    @counted
    async def transaction(self, transactional_id: str, known: int = 0) -> TransactionItem | None:  # noqa: ARG002
        item = await self.table.get(transaction_key(transactional_id))
        return read_transaction(item) if item else None

    def is_current_transaction(self, transactional_id: str, version: int) -> bool:  # noqa: ARG002
        """Never certain: any process may have changed it."""
        return False

    @counted
    async def put_transaction(
        self, transactional_id: str, item: TransactionItem, after: int
    ) -> TransactionItem | None:
        raise_if_large_transaction(item.state)
        try:
            if after == 0:
                await self.table.transact(self._beginning(transactional_id, item))
            else:
                await self._follow(transactional_id, item, after)
        except ConditionFailed as failed:
            old = failed.old or await self.table.get(transaction_key(transactional_id))
            there = read_transaction(old) if old else DELETED
            # It may be our own write: an earlier try was done, and its answer was lost.
            return None if there == item else there
        return None

    def _beginning(self, transactional_id: str, item: TransactionItem) -> list[Item]:
        return [
            self._write("Put", version_is(0), Item=transaction_item(transactional_id, item)),
            self._write("Put", Item=transaction_name_item(transactional_id)),
            self._write("Put", Item=pointer_item(item.producer_id, transactional_id)),
        ]

    async def _follow(self, transactional_id: str, item: TransactionItem, after: int) -> None:
        try:
            await self.table.call(
                "update_item",
                Key=transaction_key(transactional_id),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **next_state(item, after).parameters(),
            )
        except ConditionFailed as failed:
            if failed.old is None or read_transaction(failed.old).version != after:
                raise
            await self.table.transact(self._new_producer(transactional_id, item, failed.old))

    def _new_producer(self, transactional_id: str, item: TransactionItem, old: Item) -> list[Item]:
        present, *before = read_producer_ids(old)
        return [
            self._write(
                "Update",
                next_producer(item, read_transaction(old)),
                Key=transaction_key(transactional_id),
            ),
            self._write("Put", Item=pointer_item(item.producer_id, transactional_id)),
            *(
                self._write("Delete", Key=pointer_key(each))
                for each in before
                if each not in (present, item.producer_id)
            ),
        ]

    @counted
    async def transactional_id_of(self, producer_id: int) -> str | None:
        item = await self.table.get(pointer_key(producer_id))
        return item["name"]["S"] if item else None

    @counted
    async def transactional_ids(self) -> list[str]:
        items = await self.table.items("TRANSACTIONS", "#", "~")
        return sorted(item["name"]["S"] for item in items)

    @counted
    async def delete_transaction(self, transactional_id: str, version: int) -> bool:
        its_key = transaction_key(transactional_id)
        item = await self.table.get(its_key)
        if item is None:
            return True
        try:
            await self.table.transact(
                [
                    self._write("Delete", version_is(version), Key=its_key),
                    self._write("Delete", Key=transaction_name_key(transactional_id)),
                    *(
                        self._write("Delete", Key=pointer_key(each))
                        for each in read_producer_ids(item)
                    ),
                ]
            )
        except ConditionFailed:
            return await self.table.get(its_key) is None
        return True
