"""Metadata: one node, leader of all, in the shape that each version knows."""

import struct

import pytest
from server.peer import Peer
from server.process import Samsa
from server.talk import append, batch, create, describe

from samsa.wire.errors import ErrorCode


def test_version_0_has_no_replicas_and_no_isr_on_the_wire(
    peer: Peer, samsa: Samsa, new_name: str
) -> None:
    create(peer, new_name, partitions=2)
    name = new_name.encode()
    request = struct.pack(">hhih", 3, 0, 77, -1) + struct.pack(">ih", 1, len(name)) + name
    peer.say(struct.pack(">i", len(request)) + request)
    host, port = samsa.address
    brokers = struct.pack(">iih", 1, 0, len(host)) + host.encode() + struct.pack(">i", port)
    partitions = b"".join(struct.pack(">hiiii", 0, n, 0, 0, 0) for n in (0, 1))
    topics = struct.pack(">ihh", 1, 0, len(name)) + name + struct.pack(">i", 2) + partitions
    assert peer.read_frame() == struct.pack(">i", 77) + brokers + topics


@pytest.mark.parametrize("version", range(1, 14))
def test_later_versions_name_node_0_as_the_only_replica(
    version: int, peer: Peer, topic: str
) -> None:
    answer = describe(peer, topic, version=version)
    partition = answer.topics[0].partitions[0]
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (0, [0], [0])
    assert [broker.node_id for broker in answer.brokers] == [0]


@pytest.mark.parametrize("version", range(14))
def test_no_names_mean_all_topics_as_each_version_says_it(
    version: int, peer: Peer, topic: str
) -> None:
    assert topic in [found.name for found in describe(peer, version=version).topics]


def test_a_topic_is_created_only_if_the_client_wishes(peer: Peer, new_name: str) -> None:
    refused = describe(peer, new_name, create=False).topics[0]
    assert ErrorCode(refused.error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert describe(peer, new_name, create=True).topics[0].error_code == 0
    assert append(peer, new_name, batch(b"x")).base_offset == 0


def test_all_topics_can_be_listed_when_there_are_thousands_of_partitions(
    peer: Peer, new_name: str
) -> None:
    create(peer, new_name, partitions=3_000)
    found = {t.name: len(t.partitions) for t in describe(peer).topics}
    assert found[new_name] == 3_000
