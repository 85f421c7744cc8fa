"""How large heads and index entries are, and what DynamoDB bills for them, as `samsa cost` says."""

import random
from typing import Any
from uuid import uuid4

import pytest
from bundle.given_gateway import Cluster
from bundle.meter import Meter, size_of
from bundle.talk import TOPIC, create, offset_in, write
from functional.given import an_extent
from server.talk import PRODUCE, batch, produce_row

from samsa.aws.head_items import new_head
from samsa.aws.items import head_key, partition_pk
from samsa.local.wakeups import LocalWakeups
from samsa.ports import Partition
from samsa.ports.bounds import FRUGAL_INLINE_BYTES, INLINE_BYTES
from samsa.ports.joining import join_extents
from samsa.runtime.system import fresh_words
from samsa.wire.apis import ApiKey
from samsa_broker.cost import acts, sizes
from samsa_broker.cost.load import AppendShare
from samsa_broker.cost.of_functions import KEPT
from samsa_broker.cost.sizes import Crowd, units

LARGE = bytes(INLINE_BYTES)
"""With its header it is too large for a head, and so becomes an object."""
PRODUCERS = 10
ROOM = 0.8
"""Of a size that is said: what is found is no less, and no more."""


class Partitioned:
    """A topic of one partition, whose appends have names as long as in life."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        parts = cluster.first._parts
        parts.broker.stores.journal._tools = parts.broker.stores.journal._tools._replace(
            nonce=fresh_words()
        )
        self.ledger = parts.ledger
        self.client = cluster.client()
        create(self.client)
        self._sequences = [0] * PRODUCERS

    def run(self, work: Any) -> Any:
        return self.cluster.first._loop.run_until_complete(work)

    @property
    def partition(self) -> Partition:
        return Partition(self.run(self.ledger.topic(TOPIC)).id, 0)

    def numbered(self, client: Any, producer: int, value: bytes, lingers: bool = False) -> None:
        by = {"producer_id": 1_000 + producer, "producer_epoch": 0}
        records = batch(value, **by, base_sequence=self._sequences[producer])
        row = produce_row(TOPIC, records)
        offset_in(client.ask(ApiKey.PRODUCE, PRODUCE, row, lingers=lingers))
        self._sequences[producer] += 1

    def head(self) -> int:
        return size_of({"M": self.run(self.ledger.table.get(head_key(self.partition)))})

    def entries(self) -> list[int]:
        found = self.run(self.ledger.table.items(partition_pk(self.partition), "E#", "E$"))
        return [size_of({"M": item}) for item in found]


@pytest.fixture
def one(cluster: Cluster) -> Partitioned:
    return Partitioned(cluster)


def is_said(found: float, said: float) -> bool:
    return ROOM * said <= found <= said


def test_a_head_with_nothing_in_it():
    bare = size_of({"M": new_head(Partition(uuid4(), 11))})
    numbers = 4 * 4  # next_offset, log_start, settled_to and sweeps have some digits by and by
    name_of_one = len("settled_to")
    assert is_said(bare + numbers + name_of_one, sizes.HEAD_BYTES)


def test_a_producer_in_a_head(one: Partitioned):
    count = 8  # more than are remembered
    for _ in range(count):
        one.numbered(one.client, 0, b"value")
    before = one.head()
    for _ in range(count):
        one.numbered(one.client, 1, b"value")
    assert is_said(one.head() - before, sizes.PRODUCER_BYTES)


async def test_a_watcher_in_a_head_is_no_longer_than_the_address_of_a_process():
    wakeups = LocalWakeups()
    await wakeups.listen("127.0.0.1", reached_at="110.120.130.140", secret=bytes(8))
    watchers = {"watchers": {"M": {wakeups.address: {"N": "1700000000000"}}}}
    wakeups.close()
    empty = {"watchers": {"M": dict[str, Any]()}}
    assert is_said(size_of({"M": watchers}) - size_of({"M": empty}), sizes.WATCHER_BYTES)


@pytest.mark.parametrize("value", [b"value", LARGE], ids=["inline", "object"])
def test_an_append_in_a_head_and_in_the_index(one: Partitioned, value: bytes):
    before = one.head()
    write(one.client, value)
    kept = 0 if value == LARGE else len(batch(value))
    assert is_said(one.head() - before - kept, sizes.ENTRY_BYTES)
    write(one.client, value)  # beside which the first is put into the index
    (entry,) = one.entries()
    is_large = value == LARGE  # and so has the name of its object
    assert (ROOM if is_large else 0.6) * sizes.EXTENT_BYTES <= entry - kept <= sizes.EXTENT_BYTES


def test_a_segment_in_the_index(one: Partitioned):
    """Of 64 MiB, of batches of 16 KB that came within a day."""
    size, day_ms = 16 * 1024, 86_400_000
    count = acts.SEGMENT_BYTES // size
    run = [
        an_extent(n * 20, 20, size=size, max_timestamp=day_ms + n * day_ms // count)
        for n in range(count)
    ]
    one.run(one.ledger.index(one.partition, join_extents(run, "log/segment")))
    (entry,) = one.entries()
    assert is_said(entry + sizes.ITEM_BYTES, sizes.SEGMENT_ENTRY_BYTES)


@pytest.mark.parametrize("size", [300, 1_000, 3_000, 5_000])
def test_dynamodb_bills_a_commit_and_its_index_entry_by_their_sizes(one: Partitioned, size: int):
    for _ in range(5):
        for producer in range(PRODUCERS):
            one.numbered(one.client, producer, bytes(size))
    meter = Meter()
    meter.gateway(one.cluster, one.cluster.first)
    for producer in range(PRODUCERS):
        one.numbered(one.client, producer, bytes(size))
    stored = len(batch(bytes(size)))
    said = units([AppendShare(1.0, stored, stored <= INLINE_BYTES)], Crowd(PRODUCERS, 0, kept=KEPT))
    assert meter.head_units == [said.head_write] * PRODUCERS
    assert meter.index_units == [said.index_write] * PRODUCERS


def test_a_look_at_the_index_costs_as_much_as_is_said(one: Partitioned):
    count = 60
    for _ in range(count):
        write(one.client, bytes(1_000))
    meter = Meter()
    meter.stores(one.ledger.table, one.cluster.first._parts.objects)
    with meter.measuring() as spent:
        one.run(one.ledger.extents(one.partition, 0, count))
    said = units([AppendShare(1.0, len(batch(bytes(1_000))), inline=True)], Crowd(0, 0)).index_read
    assert ROOM * said * count <= spent.act.reads <= said * count + 1


@pytest.mark.parametrize("size", [100, 1_000, 2_000, 3_000])
def test_functions_whose_produces_lingered_pay_for_their_own_entry_only(
    one: Partitioned, size: int
):
    """However many of them there are: the first commit of each finds no entry of another."""
    meter, clients = Meter(), []
    for _ in range(4):
        gateway = one.cluster.another()
        meter.gateway(one.cluster, gateway)
        clients.append(one.cluster.client(gateway))
    for turn in range(6):
        if turn == 5:
            meter.head_units.clear()
            meter.index_units.clear()
        for producer in range(PRODUCERS):
            one.numbered(clients[producer % 4], producer, bytes(size), lingers=True)
    stored = len(batch(bytes(size)))
    appended = [AppendShare(1.0, stored, stored <= FRUGAL_INLINE_BYTES)]
    said = units(appended, Crowd(PRODUCERS, 0, at_once=True))
    assert sum(meter.head_units) == 2 * said.head_write * PRODUCERS
    assert meter.index_units == [said.index_write] * PRODUCERS
    assert said.crowded == 1  # each is taken out by an update of its own


@pytest.mark.parametrize("writers", [2, 4, 9])
@pytest.mark.parametrize(
    ("gap_s", "value"), [(1.2, bytes(1_000)), (0.12, bytes(1_000)), (0.24, bytes(2_000))]
)
def test_functions_that_commit_in_turn_pay_for_what_the_others_left_in_the_head(
    one: Partitioned, writers: int, gap_s: float, value: bytes
):
    """Which function serves an append is chosen by chance."""
    chance, meter = random.Random(writers), Meter()
    clients = []
    for _ in range(writers):
        gateway = one.cluster.another()
        meter.gateway(one.cluster, gateway)
        clients.append(one.cluster.client(gateway))

    def append(count: int) -> None:
        for _ in range(count):
            one.cluster.clock.ahead_ms += round(1_000 * chance.expovariate(1 / gap_s))
            one.numbered(chance.choice(clients), chance.randrange(PRODUCERS), value)

    append(40)
    meter.head_units.clear()
    count = 100
    with meter.measuring() as spent:
        append(count)
    appended = [AppendShare(1.0, len(batch(value)), inline=True)]
    said = units(appended, Crowd(PRODUCERS, 0, writers, KEPT, gap_s))
    updates = 1 + said.crowded
    near = pytest.approx
    assert spent.act.puts / count == near(said.crowded, abs=0.2)
    assert spent.act.head_writes / count == near(updates, rel=0.25)
    assert sum(meter.head_units) / count == near(updates * said.head_write, rel=0.3)
    assert spent.act.index_writes / count == near(1 + said.again, rel=0.3)
