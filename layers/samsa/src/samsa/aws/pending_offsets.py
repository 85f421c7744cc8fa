"""Pending offsets in DynamoDB: those that wait for the end of a transaction, beside the group's.

| pk        | sk               | what                                                            |
|-----------|------------------|-----------------------------------------------------------------|
| G#{group} | P#{producer id}  | serial: of the transaction that its offsets wait for; ended: of |
|           |                  | the last that ended here; o#{topic}#{partition}: an offset      |

An item outlives its offsets for a while, by DynamoDB's TTL, to refuse calls that come late. While
offsets wait in it, it does not expire.

Each change counts `edits` up, and holds only if nothing else has changed the item since it was
read. One change needs no read: adding offsets to those of the same transaction, or to none. What
ends a transaction writes the group's offsets on this condition too. So of several processes that
end it, one does, and a call that comes late changes nothing.

The group's name is written before its first pending offsets: so `forget_topic` finds them.
"""

from collections.abc import Callable
from typing import TypeAlias

from samsa.aws.calls import counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.group_items import chunks_of, group_pk, offset_key
from samsa.aws.group_writes import GroupWrites, transactions_of
from samsa.aws.items import Item, key_of
from samsa.aws.table import TRANSACTION
from samsa.aws.transaction_items import (
    PendingOfProducer,
    adding,
    is_unchanged,
    pending_item,
    pending_key,
    read_pending,
    read_pending_producer,
)
from samsa.ports import Committed, Offsets, PendingOffsets, Unavailable
from samsa.ports.bounds import pending_weight, raise_if_large_pending

NO_MEMBER = -1
IN_ONE_UPDATE = 100
"""Partitions whose offsets fit into one expression. More are written with the whole item."""
TRIES = 10
Doomed: TypeAlias = Callable[[tuple[str, int], Committed], bool]


class PendingCalls(GroupWrites):
    @counted
    async def add_pending(
        self,
        group_id: str,
        producer_id: int,
        serial: int,
        offsets: Offsets,
        expires_at: int,
    ) -> bool:
        raise_if_large_pending(pending_weight(offsets))
        its_key = pending_key(group_id, producer_id)
        if len(offsets) <= IN_ONE_UPDATE and await self._is_added(its_key, serial, offsets):
            return True
        for _ in range(TRIES):
            item = await self.table.get(its_key)
            there = read_pending(item) if item else PendingOfProducer()
            if there.ended >= serial or there.serial > serial:
                return False
            before = there.offsets if there.serial == serial else {}
            merged = {**before, **offsets}
            raise_if_large_pending(pending_weight(merged))
            naming = [] if there.is_named else [self._naming(group_id)]
            becomes = pending_item(its_key, there.holding(serial, merged), expires_at)
            try:
                await self._do([*naming, self._replacing(there, becomes)])
            except ConditionFailed:
                continue
            return True
        raise Unavailable(f"pending offsets of {producer_id} in {group_id} change too fast")

    async def _is_added(self, its_key: Item, serial: int, offsets: Offsets) -> bool:
        change = adding(serial, offsets)
        try:
            await self.table.call("update_item", Key=its_key, **change.parameters())
        except ConditionFailed:
            return False
        return True

    def _replacing(self, there: PendingOfProducer, becomes: Item) -> Item:
        return self._write("Put", is_unchanged(there), Item=becomes)

    @counted
    async def end_pending(
        self, group_id: str, producer_id: int, serial: int, is_committed: bool, expires_at: int
    ) -> None:
        its_key = pending_key(group_id, producer_id)
        for _ in range(TRIES):
            item = await self.table.get(its_key)
            there = read_pending(item) if item else PendingOfProducer()
            if there.ended >= serial:
                return
            is_ours = is_committed and there.serial == serial
            becomes = pending_item(its_key, there.after(serial), expires_at)
            try:
                await self._end(group_id, there, becomes, there.offsets if is_ours else {})
            except ConditionFailed:
                continue
            return
        raise Unavailable(f"pending offsets of {producer_id} in {group_id} change too fast")

    async def _end(
        self, group_id: str, there: PendingOfProducer, becomes: Item, offsets: Offsets
    ) -> None:
        writes = [
            self._write("Update", chunk.commit(NO_MEMBER), Key=offset_key(group_id, chunk))
            for chunk in chunks_of(offsets)
        ]
        *earlier, last = [*transactions_of(writes, TRANSACTION - 1)] or [[]]
        guard = self._write("ConditionCheck", is_unchanged(there), Key=key_of(becomes))
        for some in earlier:
            await self.table.transact([guard, *some])
        await self._do([*last, self._replacing(there, becomes)])

    @counted
    async def pending(self, group_id: str) -> list[PendingOffsets]:
        items = await self._pending_items(group_id)
        found = [(read_pending_producer(item), read_pending(item)) for item in items]
        return sorted(
            PendingOffsets(producer_id, there.serial, dict(sorted(there.offsets.items())))
            for producer_id, there in found
            if there.offsets
        )

    async def _pending_items(self, group_id: str) -> list[Item]:
        return await self.table.items(group_pk(group_id), "P#", "P$")

    async def _forget_pending(self, group_id: str, is_doomed: Doomed) -> None:
        for item in await self._pending_items(group_id):
            await self._forget_in(item, is_doomed)

    async def _forget_in(self, item: Item | None, is_doomed: Doomed) -> None:
        for _ in range(TRIES):
            there = read_pending(item) if item else PendingOfProducer()
            left = {w: one for w, one in there.offsets.items() if not is_doomed(w, one)}
            if item is None or len(left) == len(there.offsets):
                return
            becomes = pending_item(key_of(item), there.holding(there.serial, left), 0)
            try:
                await self._do([self._replacing(there, becomes)])
            except ConditionFailed:
                item = await self.table.get(key_of(item))
            else:
                return
        raise Unavailable("pending offsets change too fast")
