"""Nobody waits in a function: fetches and joins are parked, and pushed to when they may go on."""

from collections.abc import Callable
from typing import Any

import pytest
from bundle.given_gateway import Client, Cluster, Pushes, row_of
from bundle.talk import TOPIC, create, look, read, values_in, write
from server.talk import FETCH, records_in

from samsa.ports import GroupKey, Head, Partition
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import heartbeat, join_group, leave_group, sync_group
from samsa_websocket.envelope import ParkedReply, Reply, Wake
from samsa_websocket.pushes.pushing import MOST_NEWS

WAIT_MS = 500


def head_of(cluster: Cluster, partition: int = 0) -> Head:
    ledger = cluster.first._parts.ledger

    async def look_up() -> Head:
        topic = await ledger.topic(TOPIC)
        assert topic
        return await ledger.head(Partition(topic.id, partition))

    return cluster.first._loop.run_until_complete(look_up())


def park(client: Client, offset: int, **more: Any) -> ParkedReply:
    answer = look(client, offset, wait_ms=WAIT_MS, **more)
    assert isinstance(answer, ParkedReply), answer
    assert answer.seq == client.seq
    return answer


@pytest.fixture
def reader(cluster: Cluster) -> Client:
    client = cluster.client()
    create(client, partitions=2)
    return client


@pytest.fixture
def writer(cluster: Cluster, reader: Client) -> Client:
    """In another environment."""
    return cluster.client(cluster.another())


def test_a_fetch_at_the_end_is_parked_with_its_empty_answer(cluster: Cluster, reader: Client):
    write(reader, b"value")
    parked = park(reader, 1)
    assert parked.wait_ms == WAIT_MS
    assert parked.good_ms > 60_000
    assert values_in(row_of(ApiKey.FETCH, FETCH, parked)) == []
    assert set(head_of(cluster).watchers) == {reader.connection_id}


def test_a_fetch_that_a_full_head_does_not_take_as_a_watcher_is_asked_again(
    cluster: Cluster, reader: Client
):
    """Nobody would wake it: its empty answer must not be kept."""
    ledger = cluster.first._parts.ledger

    async def full(partition: Partition, _: str, __: int) -> Head:
        return await ledger.head(partition)

    ledger.watch = full  # type: ignore[method-assign]
    parked = park(reader, 0)
    assert (parked.good_ms, parked.wait_ms) == (0, WAIT_MS)


def test_a_fetch_that_may_not_wait_is_not_parked(cluster: Cluster, reader: Client):
    assert isinstance(look(reader, 0), Reply)
    assert head_of(cluster).watchers == {}


def test_who_is_parked_is_sent_each_append_and_stays_a_watcher(
    cluster: Cluster, reader: Client, writer: Client
):
    parked = park(reader, 0)
    for number in range(3):
        write(writer, b"value")
        assert cluster.pushes.names(reader.connection_id) == set(parked.watches)
        assert [news.base for wake in wakes(cluster) for news in wake.news] == [*range(number + 1)]
    assert head_of(cluster).watchers.keys() == {reader.connection_id}


def test_who_is_sent_no_records_is_woken_once_and_has_to_come(
    cluster: Cluster, reader: Client, writer: Client
):
    parked = park(reader, 0)
    write(writer, bytes(MOST_NEWS))
    assert cluster.pushes.names(reader.connection_id) == set(parked.watches)
    assert head_of(cluster).watchers == {}
    write(writer, b"another")
    assert len(cluster.pushes.sent) == 1


def wakes(cluster: Cluster) -> list[Wake]:
    return [message for _, message in cluster.pushes.sent if isinstance(message, Wake)]


def test_a_wake_brings_the_records_along(cluster: Cluster, reader: Client, writer: Client):
    write(writer, b"before")
    parked = park(reader, 1)
    write(writer, b"one", b"two")
    (wake,) = wakes(cluster)
    (news,) = wake.news
    assert {news.name} == set(parked.watches)
    assert (news.topic, news.partition, news.base, news.end, news.start) == (TOPIC, 0, 1, 3, 0)
    assert [record.value for record in records_in(wake.frame)] == [b"one", b"two"]
    assert [record.offset for record in records_in(wake.frame)] == [1, 2]


def test_records_that_are_too_large_for_a_message_are_not_brought_along(
    cluster: Cluster, reader: Client, writer: Client
):
    park(reader, 0)
    write(writer, bytes(MOST_NEWS))
    assert wakes(cluster) == [Wake(wakes(cluster)[0].names)]


def test_records_whose_offset_was_guessed_wrong_are_brought_along_with_the_right_one(
    cluster: Cluster, reader: Client, writer: Client
):
    """Their function does not know what another one has appended since it appended last."""
    write(writer, b"first")
    write(reader, b"second", b"third")
    park(reader, 3)
    write(writer, b"fourth")
    (wake,) = wakes(cluster)
    assert [(news.base, news.end) for news in wake.news] == [(3, 4)]
    assert [record.offset for record in records_in(wake.frame)] == [3]


def test_a_fetch_of_two_partitions_is_woken_by_either(
    cluster: Cluster, reader: Client, writer: Client
):
    another = cluster.client()
    parked = [park(client, 0, partitions=(0, 1)) for client in (reader, another)]
    assert parked[0].watches == parked[1].watches
    woken = []
    for partition in (0, 1):
        cluster.pushes.sent.clear()
        write(writer, b"value", partition=partition)
        woken.append(cluster.pushes.names(reader.connection_id))
        assert cluster.pushes.names(another.connection_id) == woken[-1]
    assert sorted([*woken[0], *woken[1]]) == list(parked[0].watches)


def test_time_spent_in_the_function_is_not_time_that_the_client_has_waited(reader: Client):
    """Else a short wait would be over before it began, and its consumer ask on and on."""
    parked = look(reader, 0, wait_ms=1)
    assert isinstance(parked, ParkedReply)
    assert parked.wait_ms == 1


def test_what_was_written_between_the_look_and_the_watch_is_found(
    cluster: Cluster, reader: Client, writer: Client
):
    """Its writer saw nobody to wake."""
    ledger = reader.gateway._parts.ledger
    watch = ledger.watch

    async def late(*args: Any) -> Head:
        appending()
        return await watch(*args)

    def appending() -> None:
        from threading import Thread

        thread = Thread(target=write, args=(writer, b"meanwhile"))
        thread.start()
        thread.join()

    ledger.watch = late  # type: ignore[method-assign]
    answer = look(reader, 0, wait_ms=WAIT_MS)
    assert isinstance(answer, Reply)
    assert values_in(row_of(ApiKey.FETCH, FETCH, answer)) == [b"meanwhile"]
    assert cluster.pushes.sent == []


def test_less_than_is_wanted_is_parked_until_the_time_is_up(reader: Client, writer: Client):
    write(writer, b"little")
    parked = park(reader, 0, min_bytes=100_000)
    assert (parked.frame, parked.good_ms) == (b"", 0)
    answer = look(reader, 0, wait_ms=WAIT_MS, min_bytes=100_000, again=True, waited=WAIT_MS)
    assert isinstance(answer, Reply)
    assert values_in(row_of(ApiKey.FETCH, FETCH, answer)) == [b"little"]


def test_a_watcher_that_has_gone_is_forgotten_and_does_no_harm(
    cluster: Cluster, reader: Client, writer: Client
):
    park(reader, 0)
    cluster.pushes.gone.add(reader.connection_id)
    assert write(writer, b"value") == 0
    assert head_of(cluster).watchers == {}


def test_a_push_that_fails_does_not_fail_the_append(
    cluster: Cluster, reader: Client, writer: Client
):
    park(reader, 0)
    cluster.pushes.url = cluster.environment["SAMSA_CONNECTIONS"] = "http://127.0.0.1:1/dev"
    other = cluster.client(cluster.another())
    assert write(other, b"value") == 0
    assert read(reader) == [b"value"]


def test_who_disconnects_leaves_no_watcher_and_no_item(cluster: Cluster, reader: Client):
    park(reader, 0, partitions=(0, 1))
    assert reader.connection_id in head_of(cluster, 1).watchers
    reader.gateway = cluster.another()
    assert reader.disconnect() == {"statusCode": 200}
    assert head_of(cluster, 0).watchers == head_of(cluster, 1).watchers == {}
    connections = cluster.first._parts.connections
    found = cluster.first._loop.run_until_complete(connections.look_up(reader.connection_id))
    assert found is None
    assert reader.disconnect() == {"statusCode": 200}


def test_a_connection_that_leaves_without_a_word_is_forgotten_in_time(
    cluster: Cluster, reader: Client
):
    """API Gateway ends every connection after two hours; an item may stay a little longer."""
    table, loop = cluster.first._parts.ledger.table, cluster.first._loop
    key = {"pk": {"S": f"C#{reader.connection_id}"}, "sk": {"S": "CONNECTION"}}
    item = loop.run_until_complete(table.get(key))
    assert item
    left_s = int(item["expires"]["N"]) - cluster.clock.now_ms() / 1000
    assert 7_200 < left_s < 9_000


def test_an_idle_consumer_costs_one_write_for_each_time_it_is_parked(
    cluster: Cluster, reader: Client
):
    park(reader, 0)
    ledger = cluster.first._parts.ledger
    before = dict(ledger.requests)
    park(reader, 0)
    spent = {name: ledger.requests[name] - before[name] for name in before}
    assert {name: n for name, n in spent.items() if n} == {"UpdateItem": 1, "GetItem": 2}


def test_a_watch_that_could_not_be_made_keeps_no_answer_good(cluster: Cluster, reader: Client):
    from samsa.ports import Unavailable

    async def fails(*_: Any) -> Head:
        raise Unavailable("throttled")

    cluster.first._parts.ledger.watch = fails  # type: ignore[method-assign]
    parked = park(reader, 0)
    assert parked.good_ms == 0


# Groups

GROUP = "family"


def join_row(member_id: str = "") -> Any:
    return join_group.REQUEST(
        group_id=GROUP,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[join_group.PROTOCOL(name="range", metadata=b"")],
    )


def until_answered(client: Client, send: Callable[..., Any]) -> Any:
    """As a shim does: the same request again, when its time has come."""
    answer = send()
    for _ in range(20):
        if not isinstance(answer, ParkedReply):
            return answer
        answer = send(again=True, waited=answer.wait_ms)
    raise AssertionError("still parked")


class Member:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.id = ""
        asked = self.joined(client.send(ApiKey.JOIN_GROUP, 9, join_row()))
        assert asked.error_code == ErrorCode.MEMBER_ID_REQUIRED
        self.id = asked.member_id

    @staticmethod
    def joined(answer: Any) -> Any:
        return row_of(ApiKey.JOIN_GROUP, 9, answer)

    def join(self, **more: Any) -> Any:
        return self.client.send(ApiKey.JOIN_GROUP, 9, join_row(self.id), **more)

    def sync(self, generation: int, **assignments: bytes) -> Any:
        row = sync_group.REQUEST(
            group_id=GROUP,
            generation_id=generation,
            member_id=self.id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                sync_group.ASSIGNMENT(member_id=name, assignment=what)
                for name, what in assignments.items()
            ],
        )
        return self.client.send(ApiKey.SYNC_GROUP, 5, row)

    def beat(self, generation: int) -> int:
        row = heartbeat.REQUEST(group_id=GROUP, generation_id=generation, member_id=self.id)
        return int(self.client.ask(ApiKey.HEARTBEAT, 4, row).error_code)


def woken(pushes: Pushes, member: Member, parked: ParkedReply) -> bool:
    return bool(pushes.names(member.client.connection_id) & set(parked.watches))


def test_members_in_different_environments_gather_sync_and_wake_each_other(cluster: Cluster):
    one = Member(cluster.client())
    first = Member.joined(until_answered(one.client, one.join))
    assert (first.error_code, first.leader) == (ErrorCode.NONE, one.id)
    two = Member(cluster.client(cluster.another()))
    waiting = two.join()
    assert isinstance(waiting, ParkedReply)
    assert 0 < waiting.wait_ms <= 5_000
    assert waiting.frame == b""
    assert one.beat(first.generation_id) == ErrorCode.REBALANCE_IN_PROGRESS
    assert not woken(cluster.pushes, two, waiting)
    led = Member.joined(one.join())
    assert len(led.members) == 2
    assert woken(cluster.pushes, two, waiting)
    followed = Member.joined(two.join(again=True, waited=100))
    assert (followed.generation_id, followed.leader) == (led.generation_id, one.id)
    cluster.pushes.sent.clear()
    syncing = two.sync(led.generation_id)
    assert isinstance(syncing, ParkedReply)
    synced = one.sync(led.generation_id, **{one.id: b"a", two.id: b"b"})
    assert row_of(ApiKey.SYNC_GROUP, 5, synced).assignment == b"a"
    assert woken(cluster.pushes, two, syncing)
    assert row_of(ApiKey.SYNC_GROUP, 5, two.sync(led.generation_id)).assignment == b"b"


def test_a_join_without_a_member_id_that_is_sent_again_is_one_member(cluster: Cluster):
    """Version 3 is not given an id first: only its number tells that it is the same join."""
    one, client = Member(cluster.client()), cluster.client(cluster.another())
    until_answered(one.client, one.join)
    for again in (False, True, True):
        answer = client.send(ApiKey.JOIN_GROUP, 3, join_row(), again=again)
        assert isinstance(answer, ParkedReply)
    led = Member.joined(one.join())
    assert len(led.members) == 2
    joined = row_of(ApiKey.JOIN_GROUP, 3, client.send(ApiKey.JOIN_GROUP, 3, join_row(), again=True))
    assert joined.generation_id == led.generation_id
    leaving = leave_group.REQUEST(group_id=GROUP, member_id=joined.member_id)
    assert client.ask(ApiKey.LEAVE_GROUP, 1, leaving).error_code == ErrorCode.NONE


def test_the_name_of_a_group_stays_short_however_long_its_id():
    from samsa_websocket.pushes.pushing import watch_name

    assert len(watch_name(GroupKey("k" * 30_000))) == 10
    assert watch_name(GroupKey("a")) != watch_name(GroupKey("b"))
