"""The table that `samsa cost` counts with, held against what the code really asks of AWS.

If one of these fails, the code has become dearer or cheaper: `samsa_broker.cost.acts` is to say so,
and with it the tables of docs/cost.md.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from bundle.given_gateway import Client, Cluster, frame_of, row_of
from bundle.meter import Meter
from bundle.talk import TOPIC, create, look, offset_in, read, values_in, write
from bundle.test_gateway_parking import GROUP, Member, until_answered
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row

from samsa.ports.bounds import FEW_PRODUCERS, FRUGAL_INLINE_BYTES, IDLE_PRODUCER_MS, INLINE_BYTES
from samsa.ports.heads import MOST_REMOVED
from samsa.runtime.upkeep import tend
from samsa.wire.apis import ApiKey
from samsa.wire.messages import offset_commit, produce
from samsa_broker.cost import acts, stores
from samsa_broker.cost.acts import LOOK_UP, LOOKS, OBJECT, RETURN, SETTLED, Act, FunctionActs
from samsa_broker.cost.load import AppendShare
from samsa_broker.cost.of_functions import MOST_PUTS_OF_A_CALL, TAKEN_OUT
from samsa_broker.cost.sizes import Crowd, units
from samsa_broker.cost.stores import CommittedLoad
from samsa_websocket.envelope import (
    MOST_TOGETHER,
    Gather,
    ParkedReply,
    Reply,
    Request,
    Wake,
    joined,
)
from samsa_websocket.pushes.pushing import MOST_NEWS
from samsa_websocket.shim.empty_fetch_cache import EmptyFetchCache, KeptAnswer
from samsa_websocket.shim.news import answer_with

FIVE_MINUTES_MS = 300_000
WAIT_MS = 500
A_TOPICS_WHILE_MS = 1_500
PARTITIONS = 4
LARGE = bytes(INLINE_BYTES)
"""With its header it is too large for a head, and so becomes an object."""


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

    def run(self, work: Any) -> Any:
        return self.cluster.first._loop.run_until_complete(work)

    def round(self) -> None:
        self.run(tend(self.cluster.first._parts.broker))


@pytest.fixture
def stage(cluster: Cluster) -> Stage:
    return Stage(cluster)


def numbered(client: Client, sequence: int, value: bytes = b"value") -> int:
    more = {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}
    return write(client, value, **more)


def all_of(count: int) -> dict[str, Any]:
    return {"wait_ms": WAIT_MS, "partitions": tuple(range(count))}


def test_a_connection_costs_a_write_when_it_comes_and_one_when_it_goes(stage: Stage):
    client = Client(stage.cluster.first)
    assert stage.cost(client.connect) == FunctionActs.CONNECT
    assert stage.cost(client.disconnect) == FunctionActs.DISCONNECT


def test_an_append_of_a_producer_whose_last_batch_another_function_stored(stage: Stage):
    numbered(stage.client, 0)
    other = stage.elsewhere()
    assert stage.cost(lambda: numbered(other, 1)) == FunctionActs.APPEND


def test_a_warm_function_appends_by_one_update_beside_which_it_indexes_the_append_before(
    stage: Stage,
):
    numbered(stage.client, 0)
    with stage.meter.measuring() as spent:
        numbered(stage.client, 1)
    assert spent.act == FunctionActs.WARM_APPEND.plus(SETTLED)
    said = FunctionActs.APPEND.plus(SETTLED)
    assert all(mine <= most for mine, most in zip(spent.act, said, strict=True))


def test_an_append_without_idempotence(stage: Stage):
    write(stage.client, b"value")
    spent = stage.cost(lambda: write(stage.client, b"value"))
    assert spent == FunctionActs.PLAIN_APPEND.plus(SETTLED)


@pytest.mark.parametrize(("size", "more"), [(INLINE_BYTES - 100, Act()), (INLINE_BYTES, OBJECT)])
def test_an_append_is_an_object_only_above_four_kilobytes(stage: Stage, size: int, more: Act):
    write(stage.client, bytes(size))
    spent = stage.cost(lambda: write(stage.client, bytes(size)))
    assert spent == FunctionActs.PLAIN_APPEND.plus(SETTLED).plus(more)


@pytest.mark.parametrize("value", [b"value", LARGE], ids=["inline", "objects"])
def test_each_partition_more_of_a_message_costs_a_look_and_an_update_and_hardly_a_put(
    stage: Stage, value: bytes
):
    """The first is put at once, and those that come meanwhile share the second: a put takes longer
    than a look, as at AWS."""
    objects = stage.cluster.first._parts.objects
    put_if_absent = objects.put_if_absent

    async def slowly(*args: Any) -> bool:
        await asyncio.sleep(0.1)
        return await put_if_absent(*args)

    objects.put_if_absent = slowly  # type: ignore[method-assign]

    def produce_all(client: Client, sequence: int) -> None:
        by = {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}
        row = produce_row(TOPIC, None)
        row.topic_data[0].partition_data = [
            produce.PARTITION(index=n, records=batch(value, **by)) for n in range(PARTITIONS)
        ]
        answer = client.ask(ApiKey.PRODUCE, PRODUCE, row)
        assert {p.error_code for p in answer.responses[0].partition_responses} == {0}

    produce_all(stage.elsewhere(), 0)
    said = FunctionActs.APPEND.plus(FunctionActs.PARTITION_APPENDED.times(PARTITIONS - 1))
    spent = stage.cost(lambda: produce_all(stage.client, 1))
    assert spent._replace(puts=0) == said
    assert spent.puts == 0 if value != LARGE else 1 <= spent.puts <= MOST_PUTS_OF_A_CALL


def test_produces_that_come_together_are_one_message_one_call_and_one_commit(stage: Stage):
    """What `samsa shim --linger-ms` is for."""
    write(stage.client, b"value")
    frame = frame_of(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"value")))
    together = Request(9, b"".join(joined((frame,) * MOST_TOGETHER)), several=True)
    spent = stage.cost(lambda: stage.client.say(together))
    assert spent == FunctionActs.PLAIN_APPEND.plus(SETTLED)
    assert read(stage.client) == [b"value"] * (1 + MOST_TOGETHER)


@pytest.mark.parametrize(
    ("size", "more"), [(FRUGAL_INLINE_BYTES - 100, Act()), (FRUGAL_INLINE_BYTES, OBJECT)]
)
def test_what_lingered_leaves_the_head_when_its_call_ends(stage: Stage, size: int, more: Act):
    """Each call does it for itself, and so finds nothing that was left by another."""
    row = produce_row(TOPIC, batch(bytes(size)))
    message = Request(1, frame_of(ApiKey.PRODUCE, PRODUCE, row), lingers=True)
    stage.client.say(message)
    spent = stage.cost(lambda: stage.client.say(message))
    assert spent == FunctionActs.PLAIN_APPEND.plus(TAKEN_OUT).plus(more)
    assert read(stage.client) == [bytes(size)] * 2


def test_a_request_that_is_too_large_for_a_message(stage: Stage):
    write(stage.client, b"value")
    row = produce_row(TOPIC, batch(os.urandom(200_000)))
    spent = stage.cost(lambda: offset_in(stage.client.upload(ApiKey.PRODUCE, PRODUCE, row)))
    assert spent == FunctionActs.PLAIN_APPEND.plus(SETTLED).plus(OBJECT).plus(FunctionActs.UPLOAD)


def test_a_fetch_that_finds_something_in_the_head(stage: Stage):
    write(stage.client, b"value")
    other = stage.elsewhere()
    assert stage.cost(lambda: read(other, 0)) == FunctionActs.READ


def test_a_fetch_of_what_has_left_the_head_looks_it_up(stage: Stage):
    for _ in range(3):
        write(stage.client, b"value")  # the third takes the first out of the head
    other = stage.elsewhere()
    assert stage.cost(lambda: read(other, 0)) == FunctionActs.READ.plus(LOOK_UP)


def test_a_large_fetch_costs_the_same_but_that_the_shim_gets_the_object(stage: Stage):
    row = produce_row(TOPIC, batch(os.urandom(200_000)))
    stage.client.upload(ApiKey.PRODUCE, PRODUCE, row)
    other, answers = stage.elsewhere(), list[Any]()
    spent = stage.cost(lambda: answers.append(look(other, 0)))
    assert spent == FunctionActs.READ.plus(Act(gets=1))
    assert isinstance(answers[0], Gather)


def test_each_object_of_a_fetch_is_a_get(stage: Stage):
    for _ in range(3):
        write(stage.client, LARGE)
    other = stage.elsewhere()
    said = FunctionActs.READ.plus(LOOK_UP).plus(Act(gets=3))
    assert stage.cost(lambda: read(other, 0)) == said


def test_each_partition_more_of_a_fetch_is_looked_at(stage: Stage):
    write(stage.client, b"value")
    other, answers = stage.elsewhere(), list[Any]()
    spent = stage.cost(lambda: answers.append(look(other, 0, **all_of(3))))
    assert isinstance(answers[0], Reply)
    assert spent == FunctionActs.READ.plus(FunctionActs.PARTITION_READ.times(2))


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_fetch_that_finds_nothing(stage: Stage, partitions: int):
    def park() -> None:
        assert isinstance(look(stage.client, 0, **all_of(partitions)), ParkedReply)

    park()  # that it watches is remembered with its connection, once
    more = FunctionActs.PARTITION_PARKED.times(partitions - 1)
    assert stage.cost(park) == FunctionActs.PARK.plus(more)


@pytest.mark.parametrize("size", [1_000, MOST_NEWS - 1_000])
def test_a_consumer_at_the_end_costs_a_push_for_each_append_and_nothing_else(
    stage: Stage, size: int
):
    """The push brings the records, and so the shim answers by itself; and it goes on waiting."""
    write(stage.client, bytes(size))
    reader = stage.elsewhere()
    parked = look(reader, 1, **all_of(1))
    assert isinstance(parked, ParkedReply)
    shim = EmptyFetchCache()
    row = fetch_row(TOPIC, 1, wait_ms=WAIT_MS)
    shim.keep(
        frame_of(ApiKey.FETCH, FETCH, row),
        KeptAnswer(parked.frame, 1, 1, frozenset(parked.watches)),
    )
    said = FunctionActs.PLAIN_APPEND.plus(SETTLED).plus(FunctionActs.WAKE)
    said = said.plus(OBJECT if size > INLINE_BYTES else Act())
    for number in range(1, 4):
        assert stage.cost(lambda: write(stage.client, bytes(size))) == said
        (_, wake) = stage.cluster.pushes.sent[-1]
        assert isinstance(wake, Wake)
        assert shim.bring(wake)
        request = frame_of(ApiKey.FETCH, FETCH, fetch_row(TOPIC, number, wait_ms=WAIT_MS))
        kept = shim.find(request, 0)
        assert kept
        answer = answer_with(kept.news, request, kept.frame)
        assert answer
        assert values_in(row_of(ApiKey.FETCH, FETCH, Reply(1, answer.frame))) == [bytes(size)]
        shim.told(request, kept, answer)


def test_a_consumer_is_called_to_what_is_too_large_to_be_pushed(stage: Stage):
    write(stage.client, bytes(MOST_NEWS))
    reader = stage.elsewhere()
    assert isinstance(look(reader, 1, **all_of(1)), ParkedReply)
    spent = stage.cost(lambda: write(stage.client, bytes(MOST_NEWS)))
    assert spent == FunctionActs.PLAIN_APPEND.plus(SETTLED).plus(OBJECT).plus(FunctionActs.CALL)
    assert stage.cost(lambda: read(reader, 1)) == FunctionActs.READ.plus(Act(gets=1))
    assert stage.cost(lambda: look(reader, 2, **all_of(1))) == FunctionActs.PARK


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
    assert each._replace(writes=0) == pytest.approx(FunctionActs.BEAT._replace(writes=0))
    assert FunctionActs.BEAT.writes / 2 <= each.writes <= FunctionActs.BEAT.writes


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
    assert stage.cost(lambda: commit(member)) == FunctionActs.COMMIT


def test_a_producer_that_had_left_a_crowded_head_is_read_and_leaves_again(stage: Stage):
    """Sixteen leave at once, so that each has a sixteenth of the update that takes them out."""
    count = FEW_PRODUCERS + 1

    def of(producer_id: int, sequence: int) -> None:
        write(
            stage.client,
            b"value",
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=sequence,
        )

    for number in range(count):
        of(1_000 + number, 0)
    stage.turn(IDLE_PRODUCER_MS + 1_000)
    with stage.meter.measuring() as leaving:
        write(stage.client, b"value")
    assert leaving.act.writes == MOST_REMOVED
    assert leaving.act.head_writes == FunctionActs.PLAIN_APPEND.head_writes + 1
    other = stage.elsewhere()
    with stage.meter.measuring() as coming:
        write(other, b"value", producer_id=1_001, producer_epoch=0, base_sequence=1)
    # It may also settle what is two seconds old.
    assert coming.act._replace(index_writes=0) == FunctionActs.APPEND.plus(Act(reads=1))
    left = leaving.act.plus(FunctionActs.PLAIN_APPEND.times(-1)).times(1 / MOST_REMOVED)
    assert (left.writes, left.head_writes) == (RETURN.writes, RETURN.head_writes)
    assert RETURN.reads == 1


def rounds(stage: Stage, value: bytes, count: int, times: int, **more: Any) -> Act:
    """What the last of so many costs, each of which finds so many appends."""
    for _ in range(times):
        for _ in range(count):
            write(stage.client, value, **more)
        stage.turn(FIVE_MINUTES_MS)
        with stage.meter.measuring() as spent:
            stage.round()
    return spent.act


def compare(spent: Act, said: Act) -> None:
    """A query that finds nothing costs nothing here, but a unit at AWS: so much less is metered."""
    calls = ("head_reads", "head_writes", "puts", "lists")
    assert [getattr(spent, each) for each in calls] == [getattr(said, each) for each in calls]
    assert said.index_writes - 4 <= spent.index_writes <= said.index_writes
    assert said.gets - 3 <= spent.gets <= said.gets
    assert 0.6 * said.writes <= spent.writes <= said.writes
    assert 0.6 * said.reads <= spent.reads <= said.reads


OTHERS = acts.ROUND_OF_A_PARTITION.times(PARTITIONS - 1)


@pytest.mark.parametrize("value", [bytes(1_000), LARGE], ids=["inline", "objects"])
def test_a_round_of_the_janitor_over_what_ages_out_all_the_time(stage: Stage, value: bytes):
    count = 50
    made = written(value, count)
    said = acts.ROUND.plus(acts.ROUND_THAT_EXPIRES).plus(acts.ROUND_THAT_SETTLES).plus(OTHERS)
    said = said.plus(acts.LEAVING.times(count)).plus(
        Act(reads=LOOKS * made.units.index_read * count)
    )
    deletions = made.units.deletion_write / 2  # put without a transaction, and known to be one
    said = said.plus(Act(writes=deletions * count)) if value == LARGE else said._replace(writes=0)
    compare(rounds(stage, value, count, 3, timestamp=1), said)


@pytest.mark.parametrize("value", [bytes(1_000), LARGE], ids=["inline", "objects"])
def test_a_round_of_the_janitor_over_what_is_merged_all_the_time(stage: Stage, value: bytes):
    count = 50
    made = written(value, count)
    said = acts.ROUND.plus(acts.ROUND_THAT_MERGES).plus(acts.ROUND_THAT_SETTLES).plus(OTHERS)
    said = said.plus(made.merged)
    said = said.plus(Act(reads=made.units.index_read * count))  # retention looks at them too
    compare(rounds(stage, value, count, 4), said)


def written(value: bytes, count: int) -> CommittedLoad:
    sizes = [AppendShare(1.0, len(batch(value)), inline=value != LARGE)]
    return CommittedLoad(count, sizes, units(sizes, Crowd(0, 0)))


def test_a_round_of_the_janitor_that_does_both(stage: Stage):
    """A segment goes, which has one entry in the index, and another one comes."""
    count, broker = 50, stage.cluster.first._parts.broker
    broker.rules = replace(broker.rules, log_retention_hours=1)
    for _ in range(6):
        now = stage.cluster.clock.now_ms()
        stage.turn(5 * FIVE_MINUTES_MS)
        spent = rounds(stage, LARGE, count, 1, timestamp=now)
    made = written(LARGE, count)
    said = acts.ROUND.plus(stores.steps(1)).plus(OTHERS).plus(made.merged).plus(acts.LEAVING)
    compare(spent, said.plus(Act(reads=made.units.index_read * count)))


def test_a_round_of_the_janitor_over_what_stands_still(stage: Stage):
    write(stage.client, b"value")
    stage.round()  # the first, and then one in six hours, looks through all there is
    with stage.meter.measuring() as spent:
        stage.round()
    said = acts.ROUND.plus(acts.ROUND_OF_A_PARTITION.times(PARTITIONS))
    assert spent.act._replace(reads=0) == said._replace(reads=0)
    assert said.reads / 2 <= spent.act.reads <= said.reads
