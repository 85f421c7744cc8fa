"""A partition's head: the sequencer, its open slots, its watchers. A change is one UpdateItem."""

from contextlib import suppress
from itertools import islice

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.items import Item, head_key, number
from samsa.ports import Confirmed, Extent, Head, Partition, Unavailable, UnknownPartition
from samsa.ports.bounds import MOST_OPEN_SLOTS, MOST_WATCHERS

STALE_WATCHER_MS = 300_000
"""More than the longest wish: nobody is dropped who has time left, however long the new one's."""

FORGOTTEN_AT_ONCE = 50
"""Watchers: their conditions must fit into one expression."""


class HeadCalls(TableCalls):
    async def _update(
        self,
        partition: Partition,
        update: str,
        condition: str,
        names: dict[str, str] | None = None,
        values: Item | None = None,
    ) -> tuple[Head, bool]:
        """The head afterwards, and whether the condition held. Raises UnknownPartition."""
        try:
            answer = await self.table.call(
                "update_item",
                Key=head_key(partition),
                UpdateExpression=update,
                ConditionExpression=f"attribute_exists(next_offset) AND {condition}",
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **({"ExpressionAttributeNames": names} if names else {}),
                **({"ExpressionAttributeValues": values} if values else {}),
            )
        except ConditionFailed as failed:
            if failed.old is None:
                raise UnknownPartition(str(partition)) from None
            return self._head_of(partition, failed.old), False
        return self._head_of(partition, answer["Attributes"]), True

    @counted
    async def reserve(self, partition: Partition, token: str, count: int) -> Head:
        # DynamoDB reads every right side from the item as it was: the token gets the old counter.
        # A retry whose first try was lost finds its token open, and the failed condition tells it
        # the base.
        head, _ = await self._update(
            partition,
            "SET inflight.#token = next_offset, next_offset = next_offset + :count",
            "attribute_not_exists(inflight.#token) AND size(inflight) < :most",
            {"#token": token},
            {":count": number(count), ":most": number(MOST_OPEN_SLOTS)},
        )
        if token not in head.inflight:
            raise Unavailable(f"{partition}: {len(head.inflight)} appends are under way")
        return head

    @counted
    async def confirm(self, partition: Partition, token: str, extent: Extent) -> Confirmed:
        # By its base too: a reserve that comes again after its slot was closed opens another under
        # the same token.
        head, was_open = await self._update(
            partition,
            "REMOVE inflight.#token",
            "inflight.#token = :base",
            {"#token": token},
            {":base": number(extent.base)},
        )
        if was_open:
            await self._add_extent(partition, extent)
        return Confirmed(head, was_open)

    @counted
    async def head(self, partition: Partition) -> Head:
        return await self._get_head(partition)

    @counted
    async def advance_start(self, partition: Partition, offset: int) -> Head:
        head, _ = await self._update(
            partition,
            "SET log_start = :offset",
            "log_start < :offset AND next_offset >= :offset",
            values={":offset": number(offset)},
        )
        return head

    @counted
    async def watch(self, partition: Partition, watcher: str, expires_at: int) -> Head:
        head, _ = await self._update(
            partition,
            "SET watchers.#watcher = :expires",
            "(size(watchers) < :most OR attribute_exists(watchers.#watcher))",
            {"#watcher": watcher},
            {":expires": number(expires_at), ":most": number(MOST_WATCHERS)},
        )
        stale = {w: t for w, t in head.watchers.items() if t < expires_at - STALE_WATCHER_MS}
        some = dict(islice(stale.items(), FORGOTTEN_AT_ONCE))
        return await self.forget_watchers(partition, some) if some else head

    async def forget_watchers(self, partition: Partition, stale: dict[str, int]) -> Head:
        """Those whose wishes are still as given. If one of them came back meanwhile, all stay."""
        names = {f"#w{i}": watcher for i, watcher in enumerate(stale)}
        values = {f":w{i}": number(expires) for i, expires in enumerate(stale.values())}
        head, _ = await self._update(
            partition,
            "REMOVE " + ", ".join(f"watchers.#w{i}" for i in range(len(stale))),
            " AND ".join(f"watchers.#w{i} = :w{i}" for i in range(len(stale))),
            names,
            values,
        )
        return head

    @counted
    async def unwatch(self, partition: Partition, watcher: str) -> None:
        with suppress(UnknownPartition):
            await self._update(
                partition,
                "REMOVE watchers.#watcher",
                "attribute_exists(watchers.#watcher)",
                {"#watcher": watcher},
            )
