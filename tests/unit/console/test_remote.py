"""A cluster of several nodes behind TCP: which of them is asked what, and what becomes of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from threading import Event
from typing import Any
from uuid import UUID

import pytest

from samsa.http_api.sessions import Session
from samsa.ports import Unavailable
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    delete_groups,
    describe_groups,
    describe_log_dirs,
    fetch,
    find_coordinator,
    list_groups,
    list_offsets,
    metadata,
    produce,
)
from samsa_broker.console.connections import FREE_S, Connections
from samsa_broker.console.remote import RemoteClient, RemoteCluster

GIVEN = "bootstrap:9092"


class Nodes:
    """Two nodes, which lead the odd and the even partitions, and coordinate groups by name."""

    def __init__(self, names: tuple[str, ...] = ("one:1", "two:2")) -> None:
        self.names = names
        self.asked: list[tuple[str, ApiKey]] = []
        self.opened: list[str] = []
        self.closed = 0
        self.broken: set[int] = set()
        """Connections that fail with their next request, by number."""
        self.down = False
        self.now_s = 0.0

    def connect(self, address: str) -> "FakeNode":
        if self.down:
            raise Unavailable(f"no broker answers at {address}")
        self.opened.append(address)
        return FakeNode(self, address, len(self.opened))

    def keys(self, address: str) -> list[ApiKey]:
        return [key for where, key in self.asked if where == address and key != ApiKey.METADATA]


class FakeNode:
    def __init__(self, nodes: Nodes, address: str, number: int) -> None:
        self._nodes, self._address, self._number = nodes, address, number

    def ask(self, key: ApiKey, row: Any, at_most: int) -> Any:
        if self._number in self._nodes.broken:
            raise Unavailable("lost the connection")
        self._nodes.asked.append((self._address, key))
        return getattr(self, f"_{key.name.lower()}")(row)

    def close(self) -> None:
        self._nodes.closed += 1

    def interrupt(self) -> None: ...

    def _metadata(self, row: Any) -> Any:
        brokers = [
            metadata.BROKER(
                node_id=n, host=name.partition(":")[0], port=int(name.partition(":")[2])
            )
            for n, name in enumerate(self._nodes.names)
        ]
        topics = [self._topic(each.name) for each in row.topics or ()]
        return metadata.RESPONSE(brokers=brokers, topics=topics)

    def _topic(self, name: str) -> Any:
        if name != "orders":
            return metadata.TOPIC_RESPONSE(
                error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name=name, partitions=[]
            )
        partitions = [
            metadata.PARTITION_RESPONSE(
                error_code=0, partition_index=n, leader_id=n % 2, replica_nodes=[], isr_nodes=[]
            )
            for n in range(4)
        ]
        return metadata.TOPIC_RESPONSE(
            error_code=0, name=name, topic_id=UUID(int=1), partitions=partitions
        )

    def _list_offsets(self, row: Any) -> Any:
        (topic,) = row.topics
        partitions = [
            list_offsets.PARTITION_RESPONSE(
                partition_index=each.partition_index,
                offset={-2: 1, -1: 10 if not row.isolation_level else 9}[each.timestamp],
                error_code=0,
            )
            for each in topic.partitions
        ]
        return list_offsets.RESPONSE(
            topics=[list_offsets.TOPIC_RESPONSE(name=topic.name, partitions=partitions)]
        )

    def _produce(self, row: Any) -> Any:
        (topic,) = row.topic_data
        partitions = [
            produce.PARTITION_RESPONSE(index=each.index, base_offset=100 + each.index, error_code=0)
            for each in topic.partition_data
        ]
        return produce.RESPONSE(
            responses=[produce.TOPIC_RESPONSE(name=topic.name, partition_responses=partitions)]
        )

    def _list_groups(self, _: Any) -> Any:
        group = list_groups.GROUP(group_id=f"of {self._address}", protocol_type="consumer")
        return list_groups.RESPONSE(groups=[group])

    def _describe_log_dirs(self, row: Any) -> Any:
        (topic,) = row.topics
        size = 100 if self._address == "one:1" else 300
        partitions = [
            describe_log_dirs.PARTITION_RESPONSE(
                partition_index=n, partition_size=size + n, offset_lag=0, is_future_key=False
            )
            for n in topic.partitions
        ]
        named = describe_log_dirs.TOPIC_RESPONSE(name=topic.topic, partitions=partitions)
        result = describe_log_dirs.RESULT(error_code=0, log_dir="/d", topics=[named])
        return describe_log_dirs.RESPONSE(results=[result])

    def _find_coordinator(self, row: Any) -> Any:
        def found(key: str) -> Any:
            host, _, port = self._nodes.names[len(key) % 2].partition(":")
            return find_coordinator.COORDINATOR(
                key=key, node_id=0, host=host, port=int(port), error_code=0, error_message=None
            )

        return find_coordinator.RESPONSE(coordinators=[found(k) for k in row.coordinator_keys])

    def _describe_groups(self, row: Any) -> Any:
        return describe_groups.RESPONSE(
            groups=[
                describe_groups.GROUP(
                    error_code=0, group_id=each, group_state=self._address, protocol_type="",
                    protocol_data="", members=[],
                )
                for each in row.groups
            ]
        )  # fmt: skip

    def _delete_groups(self, row: Any) -> Any:
        return delete_groups.RESPONSE(
            results=[delete_groups.GROUP(group_id=n, error_code=0) for n in row.groups_names]
        )


@pytest.fixture
async def cluster() -> AsyncIterator[Callable[[Nodes], RemoteClient]]:
    made: list[RemoteCluster] = []

    def make(nodes: Nodes) -> RemoteClient:
        connections = Connections(nodes.connect, lambda: nodes.now_s)
        remote = RemoteCluster(GIVEN, connections, lambda: 0, lambda: nodes.now_s, lambda: "n")
        made.append(remote)
        return remote.client(Session())

    yield make
    for each in made:
        each.close()


Make = Callable[[Nodes], RemoteClient]


async def test_partitions_are_asked_of_their_leaders_and_all_answers_come(cluster: Make):
    nodes = Nodes()
    kafka = cluster(nodes)
    topic = await kafka.topic("orders")
    bounds = await kafka.bounds(topic, range(4))
    assert bounds == dict.fromkeys(range(4), (1, 10, 9))
    assert set(nodes.keys("one:1")) == set(nodes.keys("two:2")) == {ApiKey.LIST_OFFSETS}
    assert nodes.keys(GIVEN) == []


async def test_a_write_to_several_partitions_reaches_each_leader_once(cluster: Make):
    nodes = Nodes()
    kafka = cluster(nodes)
    data = [produce.PARTITION(index=n, records=b"") for n in range(4)]
    row: Any = produce.REQUEST(
        acks=-1, timeout_ms=1, topic_data=[produce.TOPIC(name="orders", partition_data=data)]
    )
    answer = await kafka.ask(ApiKey.PRODUCE, row, 12)
    found = {each.index: each.base_offset for each in answer.responses[0].partition_responses}
    assert found == {n: 100 + n for n in range(4)}
    assert nodes.keys("one:1") == nodes.keys("two:2") == [ApiKey.PRODUCE]
    assert [each.index for each in row.topic_data[0].partition_data] == [0, 1, 2, 3]


async def test_lists_are_the_sum_of_all_nodes(cluster: Make):
    kafka = cluster(Nodes())
    answer = await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    assert {each.group_id for each in answer.groups} == {"of one:1", "of two:2"}


async def test_the_size_of_a_partition_is_that_of_one_copy(cluster: Make):
    kafka = cluster(Nodes())
    sizes = await kafka.sizes(await kafka.topic("orders"), [0, 3])
    assert sizes == {0: 300, 3: 303}


async def test_groups_are_asked_of_their_coordinators(cluster: Make):
    nodes = Nodes()
    kafka = cluster(nodes)
    row: Any = describe_groups.REQUEST(groups=["a", "bb", "ccc"])
    answer = await kafka.ask(ApiKey.DESCRIBE_GROUPS, row)
    found = {each.group_id: each.group_state for each in answer.groups}
    assert found == {"a": "two:2", "bb": "one:1", "ccc": "two:2"}
    row = delete_groups.REQUEST(groups_names=["bb"])
    await kafka.ask(ApiKey.DELETE_GROUPS, row)
    assert nodes.keys("one:1")[-1] == ApiKey.DELETE_GROUPS


async def test_a_cluster_of_one_node_is_asked_at_the_address_that_was_given(cluster: Make):
    """What it advertises may not be reachable from here."""
    nodes = Nodes(("unreachable:1",))
    kafka = cluster(nodes)
    topic = await kafka.topic("orders")
    await kafka.bounds(topic, range(4))
    await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    assert set(nodes.opened) == {GIVEN}


async def test_an_unknown_topic_is_refused_in_words(cluster: Make):
    with pytest.raises(Refused, match="there is no topic 'nothing'"):
        await cluster(Nodes()).topic("nothing")


async def test_a_connection_is_used_again_until_it_was_free_for_too_long(cluster: Make):
    nodes = Nodes(("one:1",))
    kafka = cluster(nodes)
    for _ in range(5):
        await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    assert len(nodes.opened) == 1
    nodes.now_s += FREE_S
    await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    assert (len(nodes.opened), nodes.closed) == (2, 1)


async def test_what_reads_is_asked_again_where_a_free_connection_was_broken(cluster: Make):
    nodes = Nodes(("one:1",))
    kafka = cluster(nodes)
    await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    nodes.broken = {1}
    answer = await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    assert len(answer.groups) == 1
    assert len(nodes.opened) == 2


async def test_a_write_is_never_sent_twice(cluster: Make):
    nodes = Nodes(("one:1",))
    kafka = cluster(nodes)
    await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    nodes.broken = {1}
    with pytest.raises(Unavailable):
        await kafka.ask(ApiKey.DELETE_GROUPS, delete_groups.REQUEST(groups_names=["g"]))
    assert len(nodes.opened) == 1


async def test_a_cluster_that_is_gone_is_unavailable_and_may_come_back(cluster: Make):
    nodes = Nodes()
    nodes.down = True
    kafka = cluster(nodes)
    with pytest.raises(Unavailable, match="no broker answers"):
        await kafka.topics()
    nodes.down = False
    assert await kafka.topics() == []


async def test_a_request_that_is_given_up_does_not_keep_its_connection(cluster: Make):
    nodes = Nodes(("one:1",))
    may_answer, is_asked = Event(), Event()

    class Slow(FakeNode):
        def _fetch(self, _: Any) -> Any:
            is_asked.set()
            may_answer.wait(20)
            return fetch.RESPONSE()

    nodes.connect = lambda address: Slow(nodes, address, 0)  # type: ignore[method-assign]
    kafka = cluster(nodes)
    row = fetch.REQUEST(max_wait_ms=1, min_bytes=0, topics=[])
    asking = asyncio.create_task(kafka.ask(ApiKey.FETCH, row))
    await asyncio.to_thread(is_asked.wait, 20)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    may_answer.set()
    await kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    assert nodes.closed == 0
