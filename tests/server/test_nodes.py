"""Several processes as the nodes of one cluster: each is named, and each serves everything."""

import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from server.members import alone, committed
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import FETCH, create, describe, everything, fetch_row, read, values, write
from support.broker import SAMSA
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    describe_cluster,
    describe_configs,
    describe_log_dirs,
    describe_topic_partitions,
    find_coordinator,
    list_config_resources,
    list_groups,
)
from samsa_broker.server.roster import RENEW_S, TTL_S

PARTITIONS = 32
BROKER = 4
Pair = tuple[Samsa, Samsa]


@contextmanager
def two(folder: Path, *options: str) -> Iterator[Pair]:
    with (
        a_samsa(folder / "one", "--zone", "a", *options) as one,
        a_samsa(
            folder / "two", "--zone", "b", *options, "--data", str(folder / "one" / "data")
        ) as other,
    ):
        assert eventually(lambda: all(len(nodes(each)) == 2 for each in (one, other)))
        yield one, other


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with two(tmp_path_factory.mktemp("nodes"), "--metrics-port", "0") as both:
        yield both


def nodes(samsa: Samsa) -> dict[int, tuple[str, int]]:
    with samsa.peer() as peer:
        return {node.node_id: (node.host, node.port) for node in describe(peer).brokers}


def leaders(samsa: Samsa, topic: str, version: int = 12) -> list[int]:
    with samsa.peer() as peer:
        (found,) = describe(peer, topic, version=version).topics
    return [each.leader_id for each in found.partitions]


@pytest.fixture
def spread(pair: Pair, new_name: str) -> str:
    """A topic with more partitions than nodes."""
    with pair[0].peer() as peer:
        create(peer, new_name, partitions=PARTITIONS)
    return new_name


def test_both_name_both_and_the_first_is_node_0(pair: Pair):
    assert nodes(pair[0]) == nodes(pair[1]) == {n: each.address for n, each in enumerate(pair)}


def test_both_name_the_same_leaders_and_each_leads_some(pair: Pair, spread: str):
    found = leaders(pair[0], spread)
    assert found == leaders(pair[1], spread)
    assert min(Counter(found)[node] for node in (0, 1)) >= PARTITIONS / 5
    for version in range(13):
        assert leaders(pair[0], spread, version) == found


def test_each_zone_has_a_replica_and_each_node_its_rack(pair: Pair, spread: str):
    with pair[1].peer() as peer:
        answer = describe(peer, spread)
        first = describe(peer, spread, version=0)
    assert [node.rack for node in answer.brokers] == ["a", "b"]
    for each in answer.topics[0].partitions:
        assert each.replica_nodes == each.isr_nodes == [each.leader_id, 1 - each.leader_id]
    assert {tuple(each.replica_nodes) for each in first.topics[0].partitions} == {()}


def test_the_cluster_and_its_topics_are_described_alike(pair: Pair, spread: str):
    asked = describe_topic_partitions.REQUEST(topics=[describe_topic_partitions.TOPIC(name=spread)])
    for samsa in pair:
        with samsa.peer() as peer:
            cluster = peer.ask(ApiKey.DESCRIBE_CLUSTER, 1, describe_cluster.REQUEST())
            topic = peer.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, asked).topics[0]
        assert cluster.controller_id == 0
        assert [(n.broker_id, n.host, n.port, n.rack) for n in cluster.brokers] == [
            (0, *pair[0].address, "a"),
            (1, *pair[1].address, "b"),
        ]
        assert [each.leader_id for each in topic.partitions] == leaders(samsa, spread)


def coordinators(samsa: Samsa, *keys: str) -> dict[str, tuple[int, tuple[str, int]]]:
    row = find_coordinator.REQUEST(key_type=0, coordinator_keys=list(keys))
    with samsa.peer() as peer:
        found = peer.ask(ApiKey.FIND_COORDINATOR, 4, row).coordinators
        one = find_coordinator.REQUEST(key_type=0, key=keys[0])
        assert peer.ask(ApiKey.FIND_COORDINATOR, 3, one).node_id == found[0].node_id
    assert not any(each.error_code for each in found)
    return {each.key: (each.node_id, (each.host, each.port)) for each in found}


def test_groups_are_spread_over_both_and_named_where_they_are(pair: Pair):
    keys = [f"group-{number}" for number in range(100)]
    found = coordinators(pair[0], *keys)
    assert found == coordinators(pair[1], *keys)
    shares = Counter(node for node, _ in found.values())
    assert min(shares[0], shares[1]) > 25
    assert all(address == pair[node].address for node, address in found.values())


def test_who_asks_the_wrong_process_is_served(pair: Pair, spread: str):
    """Every partition is written to and read at the process that does not lead it."""
    peers = [samsa.peer() for samsa in pair]
    for partition, leader in enumerate(leaders(pair[0], spread)):
        wrong, right = peers[1 - leader], peers[leader]
        assert write(wrong, spread, b"wrong", partition=partition) == 0
        assert write(right, spread, b"right", partition=partition) == 1
        assert values(everything(wrong, spread, partition)) == [b"wrong", b"right"]
    for peer in peers:
        peer.close()


def test_a_group_at_the_wrong_coordinator_is_served(pair: Pair, spread: str, new_name: str):
    node, _ = coordinators(pair[0], new_name)[new_name]
    with pair[1 - node].peer() as wrong, pair[node].peer() as right:
        member = alone(wrong, new_name)
        assert member.commit(spread, 7) == ErrorCode.NONE
        assert committed(right, new_name) == {(spread, 0): 7}


def groups_at(samsa: Samsa) -> set[str]:
    with samsa.peer() as peer:
        answer = peer.ask(ApiKey.LIST_GROUPS, 4, list_groups.REQUEST())
    return {group.group_id for group in answer.groups}


def test_each_group_is_listed_once_by_its_coordinator_and_all_by_the_command(pair: Pair):
    names = {f"listed-{number}" for number in range(12)}
    with pair[0].peer() as peer:
        for name in names:
            alone(peer, name)
    for node, samsa in enumerate(pair):
        expected = {name for name, (own, _) in coordinators(samsa, *names).items() if own == node}
        assert groups_at(samsa) & names == expected
    bootstrap = "{}:{}".format(*pair[1].address)
    listed = subprocess.run(
        [str(SAMSA), "groups", "list", "--bootstrap", bootstrap],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = [line.split("\t")[0] for line in listed.stdout.splitlines()]
    assert sorted(set(found) & names) == sorted(name for name in found if name in names)
    assert names <= set(found)


def test_what_all_nodes_say_of_their_directories_adds_up(pair: Pair, spread: str):
    found: list[int] = []
    for node, samsa in enumerate(pair):
        with samsa.peer() as peer:
            answer = peer.ask(ApiKey.DESCRIBE_LOG_DIRS, 4, describe_log_dirs.REQUEST(topics=None))
        (own,) = [topic for topic in answer.results[0].topics if topic.name == spread]
        numbers = [each.partition_index for each in own.partitions]
        assert {leaders(samsa, spread)[number] for number in numbers} == {node}
        found += numbers
    assert sorted(found) == list(range(PARTITIONS))


def test_any_node_is_described_by_any_process(pair: Pair):
    resources = [
        describe_configs.RESOURCE(
            resource_type=BROKER, resource_name=str(node), configuration_keys=None
        )
        for node in (0, 1, 2)
    ]
    with pair[0].peer() as peer:
        answer = peer.ask(ApiKey.DESCRIBE_CONFIGS, 4, describe_configs.REQUEST(resources=resources))
        listed = peer.ask(
            ApiKey.LIST_CONFIG_RESOURCES, 1, list_config_resources.REQUEST(resource_types=[BROKER])
        )
    assert [each.resource_name for each in listed.config_resources] == ["0", "1"]
    for node, result in enumerate(answer.results[:2]):
        configs = {config.name: config.value for config in result.configs}
        assert (configs["broker.id"], configs["broker.rack"]) == (str(node), "ab"[node])
        host, port = pair[node].address
        assert configs["advertised.listeners"] == f"PLAINTEXT://{host}:{port}"
    assert answer.results[2].error_code == ErrorCode.INVALID_REQUEST


def fetched(peer: Peer, topic: str, partitions: list[int], rack: str) -> dict[int, tuple[int, int]]:
    """Where each is to be read, and how many bytes came."""
    row = fetch_row(topic, 0, partitions, wait_ms=20_000, min_bytes=1 << 20, rack_id=rack)
    answer = peer.ask(ApiKey.FETCH, FETCH, row).responses[0].partitions
    assert not any(each.error_code for each in answer)
    return {
        each.partition_index: (each.preferred_read_replica, len(each.records)) for each in answer
    }


def test_a_leader_sends_consumers_of_another_rack_there_at_once(pair: Pair, spread: str):
    found = leaders(pair[0], spread)
    own = [partition for partition, leader in enumerate(found) if leader == 0]
    with pair[0].peer() as peer:
        write(peer, spread, b"x", partition=own[0])
        began = time.monotonic()
        answer = fetched(peer, spread, list(range(PARTITIONS)), "b")
        assert time.monotonic() - began < 5, "it waited for records"
        assert [partition for partition, (near, _) in answer.items() if near == 1] == own
        assert {size for partition, (_, size) in answer.items() if partition in own} == {0}


def test_consumers_of_the_same_rack_and_of_none_are_served_by_whom_they_ask(
    pair: Pair, spread: str
):
    found = leaders(pair[0], spread)
    with pair[0].peer() as peer:
        for partition in range(PARTITIONS):
            write(peer, spread, b"x", partition=partition)
        for rack in ("a", "", "nowhere"):
            for partition in range(PARTITIONS):
                got = read(peer, spread, 0, partitions=[partition], rack_id=rack)
                assert (got.preferred_read_replica, bool(got.records)) == (-1, True)
        others = found.index(1)
        got = read(peer, spread, 0, partitions=[others], rack_id="b")
        assert (got.preferred_read_replica, bool(got.records)) == (-1, True), "it does not lead it"


def test_metrics_count_the_nodes(pair: Pair):
    for samsa in pair:
        found = samsa.metrics()
        assert found["samsa_nodes"] == 2
        assert found["samsa_announcement_failures_total"] == 0


def test_partitions_of_a_process_that_is_killed_move_and_come_back(tmp_path: Path):
    with two(tmp_path) as (one, other):
        with one.peer() as peer:
            create(peer, "t", partitions=PARTITIONS)
        before = leaders(one, "t")
        other.kill()
        killed = time.monotonic()
        assert eventually(lambda: len(nodes(one)) == 1, TTL_S + 2 * RENEW_S + 2)
        assert time.monotonic() - killed > TTL_S - RENEW_S - 1, "a renewal that is late is no death"
        assert set(leaders(one, "t")) == {0}
        other.again()
        assert eventually(lambda: leaders(one, "t") == before, 2 * RENEW_S + 2)
        assert nodes(other) == {0: one.address, 1: other.address}
        assert other.stop() == 0
        assert eventually(lambda: set(leaders(one, "t")) == {0}, RENEW_S + 1), "it said goodbye"
        other.again()


def test_behind_one_address_they_are_one_node(tmp_path: Path):
    address = ("kafka.example.com", 9092)
    advertised = ("--advertise", "{}:{}".format(*address))
    with (
        a_samsa(tmp_path / "one", *advertised) as one,
        a_samsa(tmp_path / "two", *advertised, "--data", str(tmp_path / "one" / "data")) as other,
    ):
        with one.peer() as peer:
            create(peer, "t", partitions=PARTITIONS)
        until = time.monotonic() + 2 * RENEW_S
        while time.monotonic() < until:
            for samsa in (one, other):
                assert nodes(samsa) == {0: address}
                assert set(leaders(samsa, "t")) == {0}
            time.sleep(0.3)
        one.kill()
        assert nodes(other) == {0: address}


def stored(samsa: Samsa) -> list[Any]:
    with closing(sqlite3.connect(samsa.data / "ledger.db")) as ledger:
        return ledger.execute("SELECT id, version FROM nodes").fetchall()


@pytest.mark.parametrize("options", [(), ("--fsync",)])
def test_a_process_alone_on_its_files_is_node_0_and_writes_nothing_about_itself(
    tmp_path: Path, options: tuple[str, ...]
):
    with a_samsa(tmp_path, *options, "--metrics-port", "0") as samsa:
        calls = samsa.metrics()['samsa_store_calls_total{call="put_node",store="ledger"}']
        time.sleep(RENEW_S + 1)
        assert stored(samsa) == [(0, 1)]
        assert samsa.metrics()['samsa_store_calls_total{call="put_node",store="ledger"}'] == calls
        assert nodes(samsa) == {0: samsa.address}
        samsa.kill()
        samsa.again("--port", "0")
        assert nodes(samsa) == {0: samsa.address}, "whoever died there is forgotten"
        samsa.stop()
        assert stored(samsa) == []
