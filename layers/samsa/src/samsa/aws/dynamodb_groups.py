"""Groups and their offsets in DynamoDB, in the ledger's table.

| pk        | sk                | what                                                           |
|-----------|-------------------|----------------------------------------------------------------|
| G#{group} | STATE             | the coordinator's state, changed by compare-and-swap           |
| G#{group} | O#{topic}#{chunk} | offsets of 32 partitions: o{n} the offset, g{n} its generation |
| G#{group} | P#{producer id}   | offsets that wait for a transaction (`pending_offsets.py`)     |
| GROUPS    | {group}           | its name, for the list of all groups; edits: counts its writes |

A commit for one chunk is one UpdateItem, for several one transaction. Each partition has attributes
of its own. So no item must exist before a commit, and members that commit at the same time do not
conflict. 32 partitions stay well within the size limit of an expression.

A group's name is written with its first state. A non-member may commit before that: then the name
is written with the first offsets of a chunk, in the same transaction.

Transactional ids are in `dynamodb_transactions.py`, entries of access control in
`dynamodb_security.py`.
"""

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from samsa.aws.calls import counted
from samsa.aws.dynamodb_security import SecurityCalls
from samsa.aws.dynamodb_transactions import TransactionCalls
from samsa.aws.errors import ConditionFailed
from samsa.aws.group_items import (
    Expression,
    chunks_of,
    expired,
    group_pk,
    has_no_offsets,
    is_unchanged_name,
    name_key,
    offset_key,
    read_group,
    read_offsets,
    state_item,
    state_key,
    version_is,
)
from samsa.aws.group_writes import transactions_of
from samsa.aws.items import Item, key_of
from samsa.aws.pending_offsets import NO_MEMBER, PendingCalls
from samsa.aws.table import TRANSACTION
from samsa.aws.transaction_items import is_unchanged, read_pending
from samsa.ports import GroupItem, Offsets

AT_ONCE = 16
Update: TypeAlias = tuple[Item, Expression]
"""A key, and the change of its item."""


class DynamoGroups(PendingCalls, TransactionCalls, SecurityCalls):
    """Uses the table of a DynamoLedger, and its client."""

    @counted
    async def group(self, group_id: str, known: int = 0) -> GroupItem | None:  # noqa: ARG002
        item = await self.table.get(state_key(group_id))
        return read_group(item) if item else None

    def is_current(self, group_id: str, version: int) -> bool:  # noqa: ARG002
        """Never certain: any process may have changed it."""
        return False

    @counted
    async def put_group(self, group_id: str, item: GroupItem, after: int) -> bool:
        stored = state_item(group_id, item)
        try:
            if after == 0:
                await self.table.transact(
                    [self._write("Put", version_is(0), Item=stored), self._naming(group_id)]
                )
            else:
                await self.table.call("put_item", Item=stored, **version_is(after).parameters())
        except ConditionFailed:
            # It may be our own write: an earlier try was done, and its answer was lost.
            there = await self.table.get(state_key(group_id))
            return there is not None and read_group(there) == item
        return True

    @counted
    async def delete_group(self, group_id: str, version: int) -> bool:
        """The state is deleted with the last offsets: until then its version guards them."""
        condition = version_is(version)
        items = await self.table.items(
            group_pk(group_id), "O#", "P$", ProjectionExpression="pk, sk"
        )
        doomed = [self._write("Delete", Key=key_of(item)) for item in items]
        doomed.append(self._write("Delete", Key=name_key(group_id)))
        try:
            while len(doomed) >= TRANSACTION:
                guard = self._write("ConditionCheck", condition, Key=state_key(group_id))
                await self.table.transact([guard, *doomed[: TRANSACTION - 1]])
                doomed = doomed[TRANSACTION - 1 :]
            last = self._write("Delete", condition, Key=state_key(group_id))
            await self.table.transact([*doomed, last])
        except ConditionFailed:
            return False
        return True

    @counted
    async def forget_group(self, group_id: str, version: int, now_ms: int) -> bool:
        """The name is read first: whatever comes after that and may be the group's first offsets
        writes the name again. The others are written to items that are deleted here only if they
        have no offsets."""
        name = await self.table.get(name_key(group_id))
        items = await self.table.items(group_pk(group_id), "O#", "P$")
        if any(_is_in_use(item, now_ms) for item in items):
            return False
        doomed = [self._write("Delete", _as_unused(item), Key=key_of(item)) for item in items]
        last = [
            self._write("Delete", is_unchanged_name(name), Key=name_key(group_id)),
            self._write("Delete", version_is(version), Key=state_key(group_id)),
        ]
        try:
            *earlier, some = [*transactions_of(doomed, TRANSACTION - len(last))] or [[]]
            for each in earlier:
                await self.table.transact(each)
            await self.table.transact([*some, *last])
        except ConditionFailed:
            return False
        return True

    @counted
    async def group_ids(self) -> list[str]:
        items = await self.table.items("GROUPS", "#", "~")
        return sorted(item["name"]["S"] for item in items)

    @counted
    async def commit(self, group_id: str, generation: int, offsets: Offsets) -> bool:
        chunks = chunks_of(offsets)
        updates = [(offset_key(group_id, chunk), chunk.commit(generation)) for chunk in chunks]
        if generation == NO_MEMBER:
            await self._commit_of_no_member(group_id, updates)
            return True
        try:
            await self._update_all(updates)
        except ConditionFailed:
            return False
        return True

    async def _commit_of_no_member(self, group_id: str, updates: list[Update]) -> None:
        try:
            await self._update_all([(k, e.where("attribute_exists(pk)")) for k, e in updates])
        except ConditionFailed:
            await self._update_all(updates, self._naming(group_id))

    async def _update_all(self, updates: list[Update], *others: Item) -> None:
        writes = [self._write("Update", update, Key=key) for key, update in updates]
        for some in transactions_of([*writes, *others]):
            await self._do(some)

    async def _offset_items(self, group_id: str) -> list[Item]:
        return await self.table.items(group_pk(group_id), "O#", "O$")

    @counted
    async def offsets(self, group_id: str, now_ms: int) -> Offsets:
        found: Offsets = {}
        for item in await self._offset_items(group_id):
            found |= read_offsets(item)
        return {where: found[where] for where in sorted(found) if not expired(found[where], now_ms)}

    @counted
    async def delete_offsets(
        self, group_id: str, partitions: Sequence[tuple[str, int]], before: int | None = None
    ) -> None:
        wanted = set(partitions)
        for item in await self._offset_items(group_id):
            there = {where: seen for where, seen in read_offsets(item).items() if where in wanted}
            await self._delete_from(group_id, there, before)
        if before is None:
            await self._forget_pending(group_id, lambda where, _: where in wanted)

    async def _delete_from(self, group_id: str, there: Offsets, before: int | None) -> None:
        """With `before`, delete only unchanged offsets: one committed meanwhile is younger."""
        old = {w: seen for w, seen in there.items() if before is None or seen.committed_at < before}
        for chunk in chunks_of(old):
            removal = chunk.removal(unchanged=before is not None)
            try:
                await self.table.call(
                    "update_item", Key=offset_key(group_id, chunk), **removal.parameters()
                )
            except ConditionFailed:
                continue  # one of them has changed, so all stay; upkeep retries expired ones

    @counted
    async def forget_topic(self, name: str, before: int) -> None:
        groups = [item["name"]["S"] for item in await self.table.items("GROUPS", "#", "~")]
        for start in range(0, len(groups), AT_ONCE):
            some = groups[start : start + AT_ONCE]
            await asyncio.gather(*(self._forget_topic_in(group, name, before) for group in some))

    async def _forget_topic_in(self, group_id: str, name: str, before: int) -> None:
        items = await self.table.items(group_pk(group_id), f"O#{name}#", f"O#{name}$")
        for item in items:
            await self._delete_from(group_id, read_offsets(item), before)
        await self._forget_pending(
            group_id, lambda where, one: where[0] == name and one.committed_at < before
        )

    async def close(self) -> None:
        """Does nothing: the ledger closes the table's client."""


def _is_in_use(item: Item, now_ms: int) -> bool:
    """Whether it has offsets, or refuses calls that come late."""
    if item["sk"]["S"].startswith("O#"):
        return bool(read_offsets(item))
    return "expires" not in item or int(item["expires"]["N"]) * 1000 > now_ms


def _as_unused(item: Item) -> Expression:
    is_of_offsets = item["sk"]["S"].startswith("O#")
    return has_no_offsets(item) if is_of_offsets else is_unchanged(read_pending(item))
