"""The calls on a partition's head: commits, producers, watchers. Every change is one UpdateItem.

The calls without `@counted` belong to `ports.heads.HeadStore`: the journal counts its calls itself.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.head_items import pack_entry, producer_attribute, read_state
from samsa.aws.items import Item, head_key, number
from samsa.ports import Head, Partition, UnknownPartition
from samsa.ports.bounds import MOST_WATCHERS
from samsa.ports.heads import (
    MOST_CLAIMS,
    MOST_REMOVED,
    HeadClaim,
    HeadProducer,
    HeadState,
    HeadUpdate,
)

STALE_WATCHER_MS = 300_000
"""Longer than the longest watch: so a watcher that has not expired is never dropped, however long
the new watch is."""

FORGOTTEN_AT_ONCE = 50
"""Watchers that one update removes: their conditions must fit into one expression."""


class Change:
    """Collects the parts of an update."""

    def __init__(self) -> None:
        self.sets: list[str] = []
        self.removes: list[str] = []
        self.conditions: list[str] = ["attribute_exists(next_offset)"]
        self.names: dict[str, str] = {}
        self.values: Item = {}

    @property
    def update(self) -> str:
        clauses = [("SET", self.sets), ("REMOVE", self.removes)]
        return " ".join(f"{word} {', '.join(parts)}" for word, parts in clauses if parts)

    @property
    def condition(self) -> str:
        return " AND ".join(self.conditions)

    def take_out(self, settled: Mapping[str, int]) -> None:
        """Remove entries that still have those bases. Entries that are gone already do no harm."""
        assert len(settled) <= MOST_REMOVED
        for n, (name, base) in enumerate(settled.items()):
            self.names[f"#r{n}"] = name
            self.values[f":r{n}"] = number(base)
            self.removes += [f"tail.#r{n}", f"bases.#r{n}"]
            self.conditions.append(f"(attribute_not_exists(bases.#r{n}) OR bases.#r{n} = :r{n})")

    def claim(self, claims: Iterable[HeadClaim], now_ms: int) -> None:
        for n, (claim, evictions) in enumerate(claims):
            assert n < MOST_CLAIMS
            self.names[f"#p{n}"] = str(claim.producer_id)
            self.values[f":p{n}"] = producer_attribute(claim, now_ms)
            self.sets += [f"producers.#p{n} = :p{n}", f"producer_bases.#p{n} = next_offset"]
            if evictions is None:
                self.values[f":v{n}"] = number(claim.after)
                self.conditions.append(f"producers.#p{n}.v = :v{n}")
            else:
                self.values[":evictions"] = number(evictions)
                self.conditions.append(f"attribute_not_exists(producers.#p{n})")
        if ":evictions" in self.values:
            self.conditions.append("evictions = :evictions")


def commit(update: HeadUpdate) -> Change:
    # DynamoDB reads every right side from the item before the update: a base is the old next_offset
    change, entry = Change(), update.entry
    change.names["#id"] = entry.id
    change.values = {":count": number(entry.offsets), ":entry": {"B": pack_entry(entry)}}
    change.sets = [
        "next_offset = next_offset + :count",
        "bases.#id = next_offset",
        "tail.#id = :entry",
    ]
    change.values[":sweeps"] = number(update.sweeps)
    change.conditions += ["attribute_not_exists(tail.#id)", "sweeps = :sweeps"]
    change.claim(update.claims, update.now_ms)
    change.take_out(update.settled)
    return change


def eviction(producers: Mapping[int, HeadProducer]) -> Change:
    assert len(producers) <= MOST_REMOVED
    change = Change()
    change.values = {":one": number(1)}
    change.sets = ["evictions = evictions + :one"]
    for n, (producer_id, producer) in enumerate(producers.items()):
        change.names[f"#p{n}"] = str(producer_id)
        change.values[f":v{n}"] = number(producer.bound.version)
        change.removes += [f"producers.#p{n}", f"producer_bases.#p{n}"]
        change.conditions.append(f"producers.#p{n}.v = :v{n}")
    return change


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
        self._settled_to[partition] = state.head.settled_to
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
