"""What the contract tests speak of: topics, partitions, extents."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from samsa.local.sqlite import SqliteLedger
from samsa.ports import Claim, Extent, Head, Ledger, Partition, Topic
from samsa.ports.heads import HeadClaim, HeadState, HeadUpdate

DAY_MS = 86_400_000


def a_topic(name: str = "letters", partitions: int = 1, **configs: str) -> Topic:
    return Topic(name, uuid4(), partitions, 1_700_000_000_000, configs)


async def a_partition(ledger: Ledger, name: str = "letters") -> Partition:
    topic = a_topic(name)
    assert await ledger.create_topic(topic)
    return Partition(topic.id, 0)


def an_unknown_partition() -> Partition:
    return Partition(uuid4(), 0)


def an_extent(base: int, offsets: int = 1, **other: object) -> Extent:
    fields = {"size": 100, "max_timestamp": 7, "stored_at": 8, "key": f"log/{base:020d}", **other}
    return Extent(base=base, offsets=offsets, **fields)  # type: ignore[arg-type]


def an_update(name: str, sweeps: int = 0, **extent: object) -> HeadUpdate:
    """Of an entry that guesses the first offset."""
    return HeadUpdate(an_extent(0, id=name, **extent), sweeps)  # type: ignore[arg-type]


async def append(
    ledger: Any, partition: Partition, extent: Extent, claims: Sequence[Claim] = ()
) -> Head:
    """As if it had been committed and settled, at the next offset."""
    if isinstance(ledger, SqliteLedger):
        head, base, _ = await ledger.commit(partition, extent, extent.key, extent.start, claims)
        assert base == extent.base
        return head
    state = await ledger.head_state(partition)
    held = [HeadClaim(c, _evictions(state, c.producer_id)) for c in claims]
    entry = extent._replace(id=extent.id or f"id-{extent.base}")
    _, done = await ledger.update_head(
        partition, HeadUpdate(entry, state.sweeps, held, 1_700_000_000_000)
    )
    assert done
    assert state.head.next_offset == extent.base
    await ledger.index(partition, extent)
    return (await ledger.take_out(partition, {entry.id: extent.base})).head


def _evictions(state: HeadState, producer_id: int) -> int | None:
    return None if producer_id in state.producers else state.evictions
