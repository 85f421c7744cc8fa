"""What the contract tests speak of: topics, partitions, extents."""

from uuid import uuid4

from samsa.ports import Extent, Ledger, Partition, Topic

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


async def append(ledger: Ledger, partition: Partition, token: str, extent: Extent) -> None:
    head = await ledger.reserve(partition, token, extent.offsets)
    assert head.inflight[token] == extent.base
    await ledger.confirm(partition, token, extent)
