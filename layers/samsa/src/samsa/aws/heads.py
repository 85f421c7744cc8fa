"""The calls on a partition's head: commits, producers, watchers. Every change is one UpdateItem.

The calls without `@counted` belong to `ports.heads.HeadStore`: the journal counts its calls itself.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.head_changes import Change, commit, eviction
from samsa.aws.head_items import read_state
from samsa.aws.items import Item, head_key, number
from samsa.ports import Head, Partition, UnknownPartition
from samsa.ports.bounds import MOST_WATCHERS
from samsa.ports.heads import HeadProducer, HeadState, HeadUpdate

STALE_WATCHER_MS = 300_000
"""Longer than the longest watch: so a watcher that has not expired is never dropped, however long
the new watch is."""

FORGOTTEN_AT_ONCE = 50
"""Watchers that one update removes: their conditions must fit into one expression."""


class HeadCalls(TableCalls):
    async def _change(
        self, partition: Partition, change: Change, repeatable: bool = True
    ) -> tuple[Item, bool]:
        """The item after the update, or as it was if the condition did not hold; and whether the
        condition held. Raises UnknownPartition."""
        try:
            answer = await self.table.call(
                "update_item",
                repeatable=repeatable,
                Key=head_key(partition),
                UpdateExpression=change.update,
                ConditionExpression=change.condition,
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **({"ExpressionAttributeNames": change.names} if change.names else {}),
                **({"ExpressionAttributeValues": change.values} if change.values else {}),
            )
        except ConditionFailed as failed:
            if failed.old is None:
                raise UnknownPartition(str(partition)) from None
            return failed.old, False
        item: Item = answer["Attributes"]
        return item, True

    def _state_of(self, partition: Partition, item: Item) -> HeadState:
        state = read_state(partition, item)
        self._remember(partition, state.head)
        return state

    async def head_state(self, partition: Partition) -> HeadState:
        return self._state_of(partition, await self._head_item(partition))

    async def update_head(self, partition: Partition, update: HeadUpdate) -> tuple[HeadState, bool]:
        item, done = await self._change(partition, commit(update), repeatable=False)
        return self._state_of(partition, item), done

    async def take_out(self, partition: Partition, settled: Mapping[str, int]) -> HeadState:
        change = Change()
        change.take_out(settled)
        return self._state_of(partition, (await self._change(partition, change))[0])

    async def count_sweep(self, partition: Partition) -> HeadState:
        change = Change()
        change.sets, change.values = ["sweeps = sweeps + :one"], {":one": number(1)}
        return self._state_of(partition, (await self._change(partition, change))[0])

    async def evict(self, partition: Partition, producers: Mapping[int, HeadProducer]) -> HeadState:
        return self._state_of(partition, (await self._change(partition, eviction(producers)))[0])

    async def _update(
        self,
        partition: Partition,
        condition: str,
        names: dict[str, str] | None = None,
        values: Item | None = None,
        *,
        sets: str = "",
        removes: Iterable[str] = (),
    ) -> Head:
        """The head after the call, whether the condition held or not."""
        change = Change()
        change.sets, change.removes = [sets] if sets else [], list(removes)
        change.conditions.append(condition)
        change.names, change.values = names or {}, values or {}
        return self._head_of(partition, (await self._change(partition, change))[0])

    @counted
    async def head(self, partition: Partition) -> Head:
        return await self._get_head(partition)

    @counted
    async def advance_start(self, partition: Partition, offset: int) -> Head:
        return await self._update(
            partition,
            "log_start < :offset AND next_offset >= :offset",
            values={":offset": number(offset)},
            sets="log_start = :offset",
        )

    @counted
    async def watch(self, partition: Partition, watcher: str, expires_at: int) -> Head:
        head = await self._update(
            partition,
            "(size(watchers) < :most OR attribute_exists(watchers.#watcher))",
            {"#watcher": watcher},
            {":expires": number(expires_at), ":most": number(MOST_WATCHERS)},
            sets="watchers.#watcher = :expires",
        )
        stale = {w: t for w, t in head.watchers.items() if t < expires_at - STALE_WATCHER_MS}
        some = dict(islice(stale.items(), FORGOTTEN_AT_ONCE))
        return await self.forget_watchers(partition, some) if some else head

    async def forget_watchers(self, partition: Partition, stale: dict[str, int]) -> Head:
        """Remove watchers whose expiry is as given. If one was renewed meanwhile, all stay."""
        return await self._update(
            partition,
            " AND ".join(f"watchers.#w{i} = :w{i}" for i in range(len(stale))),
            {f"#w{i}": watcher for i, watcher in enumerate(stale)},
            {f":w{i}": number(expires) for i, expires in enumerate(stale.values())},
            removes=[f"watchers.#w{i}" for i in range(len(stale))],
        )

    @counted
    async def unwatch(self, partition: Partition, watcher: str) -> None:
        with suppress(UnknownPartition):
            await self._update(
                partition,
                "attribute_exists(watchers.#watcher)",
                {"#watcher": watcher},
                removes=["watchers.#watcher"],
            )
