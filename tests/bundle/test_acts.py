"""The table that `samsa cost` counts with, held against what the code really asks of AWS.

If one of these fails, the code has become dearer or cheaper: `samsa.cost.acts` is to say so, and
with it the README's table.
"""

import os
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from bundle.given_gateway import Client, Cluster
from bundle.meter import Meter
from bundle.talk import TOPIC, create, look, offset_in, read, write
from bundle.test_gateway_parking import GROUP, Member, until_answered
from functional.given import an_extent
from server.talk import PRODUCE, batch, produce_row

from samsa.aws.items import partition_pk
from samsa.cost import acts, stores
from samsa.cost.acts import Act, Functions
from samsa.envelope import Gather, Parked, Reply
from samsa.joining import join_extents
from samsa.ports import Partition
from samsa.server.upkeep import tend
from samsa.wire.apis import ApiKey
from samsa.wire.messages import offset_commit

FIVE_MINUTES_MS = 300_000
WAIT_MS = 500
A_TOPICS_WHILE_MS = 1_500
PARTITIONS = 4


class Stage:
    """A cluster with a topic, a client, and a meter."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.client = cluster.client()
        create(self.client, PARTITIONS)
        self.meter = Meter()
        self.meter.gateway(cluster, cluster.first)

    def cost(self, act: Callable[[], object]) -> Act:
        """By a function that has not looked the topic up within the second."""
        self.turn(A_TOPICS_WHILE_MS)
        with self.meter.measuring() as spent:
            act()
        return spent.act

    def turn(self, ms: int) -> None:
        self.cluster.clock.ahead_ms += ms

    def elsewhere(self) -> Client:
        """In another environment, metered too."""
        gateway = self.cluster.another()
        self.meter.gateway(self.cluster, gateway)
        return self.cluster.client(gateway)

    def partition(self) -> Partition:
        topic = self.run(self.cluster.first._parts.ledger.topic(TOPIC))
        return Partition(topic.id, 0)

    def run(self, work: Any) -> Any:
        return self.cluster.first._loop.run_until_complete(work)

    def round(self) -> None:
        self.run(tend(self.cluster.first._parts.broker))


@pytest.fixture
def stage(cluster: Cluster) -> Stage:
    return Stage(cluster)


def numbered(client: Client, sequence: int) -> int:
    more = {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}
    return write(client, b"value", **more)


def all_of(count: int) -> dict[str, Any]:
    return {"wait_ms": WAIT_MS, "partitions": tuple(range(count))}


def test_a_connection_costs_a_write_when_it_comes_and_one_when_it_goes(stage: Stage):
    client = Client(stage.cluster.first)
    assert stage.cost(client.connect) == Functions.CONNECT
    assert stage.cost(client.disconnect) == Functions.DISCONNECT


def test_an_append_of_a_producer_whose_last_batch_another_function_stored(stage: Stage):
    numbered(stage.client, 0)
    other = stage.elsewhere()
    assert stage.cost(lambda: numbered(other, 1)) == Functions.APPEND


def test_an_append_of_a_producer_that_is_known_costs_no_more(stage: Stage):
    numbered(stage.client, 0)
    spent = stage.cost(lambda: numbered(stage.client, 1))
    assert all(mine <= most for mine, most in zip(spent, Functions.APPEND, strict=True))
    assert spent.writes == Functions.APPEND.writes


def test_an_append_without_idempotence(stage: Stage):
    assert stage.cost(lambda: write(stage.client, b"value")) == Functions.PLAIN_APPEND


def test_a_request_that_is_too_large_for_a_message(stage: Stage):
    row = produce_row(TOPIC, batch(os.urandom(200_000)))
    spent = stage.cost(lambda: offset_in(stage.client.upload(ApiKey.PRODUCE, PRODUCE, row)))
    assert spent == Functions.PLAIN_APPEND.plus(Functions.UPLOAD)


def test_a_fetch_that_finds_one_object(stage: Stage):
    write(stage.client, b"value")
    assert stage.cost(lambda: read(stage.client, 0)) == Functions.READ


def test_a_large_fetch_costs_the_same_but_that_the_shim_gets_the_object(stage: Stage):
    row = produce_row(TOPIC, batch(os.urandom(200_000)))
    stage.client.upload(ApiKey.PRODUCE, PRODUCE, row)
    answers: list[Any] = []
    assert stage.cost(lambda: answers.append(look(stage.client, 0))) == Functions.READ
    assert isinstance(answers[0], Gather)


def test_each_object_more_of_a_fetch_is_a_get(stage: Stage):
    for _ in range(3):
        write(stage.client, b"value")
    assert stage.cost(lambda: read(stage.client, 0)) == Functions.READ.plus(Act(gets=2))


def test_each_partition_more_of_a_fetch_is_looked_at(stage: Stage):
    write(stage.client, b"value")
    answers: list[Any] = []
    spent = stage.cost(lambda: answers.append(look(stage.client, 0, **all_of(3))))
    assert isinstance(answers[0], Reply)
    assert spent == Functions.READ.plus(Functions.PARTITION_READ.times(2))


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_fetch_that_finds_nothing(stage: Stage, partitions: int):
    def park() -> None:
        assert isinstance(look(stage.client, 0, **all_of(partitions)), Parked)

    park()  # that it watches is remembered with its connection, once
    more = Functions.PARTITION_PARKED.times(partitions - 1)
    assert stage.cost(park) == Functions.PARK.plus(more)


def test_an_append_that_somebody_waits_for(stage: Stage):
    look(stage.cluster.client(), 0, **all_of(1))
    spent = stage.cost(lambda: write(stage.client, b"value"))
    assert spent == Functions.PLAIN_APPEND.plus(Functions.WAKE)


@pytest.fixture
def member(stage: Stage) -> Member:
    member = Member(stage.cluster.client())
    joined = Member.joined(until_answered(member.client, member.join))
    member.sync(joined.generation_id, **{member.id: b"all"})
    member.generation = joined.generation_id
    return member


def test_heartbeats_of_which_some_write(stage: Stage, member: Member):
    beats = 30
    spent = Act()
    for _ in range(beats):
        spent = spent.plus(stage.cost(lambda: member.beat(member.generation)))
        stage.turn(3_000 - A_TOPICS_WHILE_MS)
    each = spent.times(1 / beats)
    assert each._replace(writes=0) == pytest.approx(Functions.BEAT._replace(writes=0))
    assert Functions.BEAT.writes / 2 <= each.writes <= Functions.BEAT.writes


def commit(member: Member) -> None:
    partitions = [
        offset_commit.PARTITION(partition_index=n, committed_offset=n) for n in range(PARTITIONS)
    ]
    row = offset_commit.REQUEST(
        group_id=GROUP,
        generation_id_or_member_epoch=member.generation,
        member_id=member.id,
        topics=[offset_commit.TOPIC(name=TOPIC, partitions=partitions)],
    )
    answer = member.client.ask(ApiKey.OFFSET_COMMIT, 9, row)
    assert {p.error_code for p in answer.topics[0].partitions} == {0}


def test_a_commit(stage: Stage, member: Member):
    commit(member)
    assert stage.cost(lambda: commit(member)) == Functions.COMMIT


def test_a_round_of_the_janitor_over_what_ages_out_all_the_time(stage: Stage):
    """A query that finds nothing costs nothing here, but a unit at AWS: so much less is metered."""
    aged = 10
    for _ in range(3):
        for _ in range(aged):
            write(stage.client, b"value", timestamp=1)
        stage.turn(FIVE_MINUTES_MS)
        with stage.meter.measuring() as spent:
            stage.round()
    others = acts.ROUND_OF_A_PARTITION.times(PARTITIONS - 1)
    said = acts.ROUND.plus(acts.ROUND_THAT_EXPIRES).plus(others)
    said = said.plus(acts.LEAVING.times(aged))
    assert spent.act._replace(reads=0) == said._replace(reads=0)
    assert said.reads / 2 <= spent.act.reads <= said.reads


def test_a_round_of_the_janitor_over_what_is_merged_all_the_time(stage: Stage):
    written = 50
    for _ in range(4):
        for _ in range(written):
            write(stage.client, b"value")
        stage.turn(FIVE_MINUTES_MS)
        with stage.meter.measuring() as spent:
            stage.round()
    others = acts.ROUND_OF_A_PARTITION.times(PARTITIONS - 1)
    said = acts.ROUND.plus(acts.ROUND_THAT_MERGES).plus(others)
    said = said.plus(acts.MERGED.times(written))
    assert spent.act._replace(reads=0, gets=0) == said._replace(reads=0, gets=0)
    assert written <= spent.act.gets <= said.gets
    assert said.reads / 2 <= spent.act.reads <= said.reads


def test_a_round_of_the_janitor_that_does_both(stage: Stage):
    """A segment goes, which has one entry in the index, and another one comes."""
    written, broker = 50, stage.cluster.first._parts.broker
    broker.rules = replace(broker.rules, log_retention_hours=1)
    for _ in range(6):
        now = stage.cluster.clock.now_ms()
        for _ in range(written):
            write(stage.client, b"value", timestamp=now)
        stage.turn(6 * FIVE_MINUTES_MS)
        with stage.meter.measuring() as spent:
            stage.round()
    others = acts.ROUND_OF_A_PARTITION.times(PARTITIONS - 1)
    said = acts.ROUND.plus(stores.steps(slots=1)).plus(others)
    said = said.plus(acts.MERGED.times(written)).plus(acts.LEAVING)
    assert spent.act._replace(reads=0, gets=0) == said._replace(reads=0, gets=0)
    assert said.reads / 2 <= spent.act.reads <= said.reads


def test_a_round_of_the_janitor_over_what_stands_still(stage: Stage):
    write(stage.client, b"value")
    stage.round()  # the first, and then one in six hours, looks through all there is
    with stage.meter.measuring() as spent:
        stage.round()
    said = acts.ROUND.plus(acts.ROUND_OF_A_PARTITION.times(PARTITIONS))
    assert spent.act._replace(reads=0) == Act()
    assert said.reads / 2 <= spent.act.reads <= said.reads


def test_an_entry_of_the_index_is_as_large_as_is_said(stage: Stage):
    write(stage.client, b"value")
    assert 0.8 * acts.EXTENT_BYTES <= indexed_bytes(stage) <= acts.EXTENT_BYTES


def test_an_entry_of_a_segment_is_too(stage: Stage):
    """Of 64 MiB, of batches of 16 KB that came within a day."""
    size, day_ms = 16 * 1024, 86_400_000
    count = acts.SEGMENT_BYTES // size
    run = [
        an_extent(n * 20, 20, size=size, max_timestamp=day_ms + n * day_ms // count)
        for n in range(count)
    ]
    ledger, partition = stage.cluster.first._parts.ledger, stage.partition()
    stage.run(ledger.index(partition, join_extents(run, "log/segment")))
    assert 0.8 * acts.SEGMENT_ENTRY_BYTES <= indexed_bytes(stage) <= acts.SEGMENT_ENTRY_BYTES


def indexed_bytes(stage: Stage) -> int:
    """Of the only entry."""
    pk = partition_pk(stage.partition())
    (item,) = stage.run(stage.cluster.first._parts.ledger.table.items(pk, "E#", "E$"))
    return 100 + sum(len(name) + size_of(value) for name, value in item.items())


def size_of(value: dict[str, str]) -> int:
    ((kind, text),) = value.items()
    if kind == "B":
        return len(b64decode(text))
    return len(text) // 2 + 2 if kind == "N" else len(text)


def test_a_look_at_the_index_costs_as_much_as_is_said(stage: Stage):
    ledger, partition, count = stage.cluster.first._parts.ledger, stage.partition(), 60
    for base in range(count):
        stage.run(ledger.index(partition, an_extent(base)))
    with stage.meter.measuring() as spent:
        stage.run(ledger.extents(partition, 0, count))
    said = acts.READS_PER_EXTENT * count
    assert 0.6 * said <= spent.act.reads <= said + 1
