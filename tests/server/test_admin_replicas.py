"""What means little where one node has everything: leaders, replicas, directories, the quorum."""

import pytest
from server.peer import Peer

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    alter_partition_reassignments,
    alter_replica_log_dirs,
    describe_quorum,
    elect_leaders,
    list_config_resources,
    list_partition_reassignments,
)

NODE = 0
ELSEWHERE = 7
TOPIC, BROKER = 2, 4


def versions(key: ApiKey) -> range:
    return APIS[key].versions


def elected(peer: Peer, version: int, asked: dict[str, list[int]] | None, kind: int = 0) -> dict:
    topics = None
    if asked is not None:
        topics = [elect_leaders.TOPIC(topic=t, partitions=numbers) for t, numbers in asked.items()]
    row = elect_leaders.REQUEST(election_type=kind, topic_partitions=topics)
    answer = peer.ask(ApiKey.ELECT_LEADERS, version, row)
    return {
        topic.topic: [
            (one.partition_id, ErrorCode(one.error_code)) for one in topic.partition_result
        ]
        for topic in answer.replica_election_results
    }


@pytest.mark.parametrize("version", versions(ApiKey.ELECT_LEADERS))
def test_an_election_is_never_needed(peer: Peer, topic: str, version: int) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert elected(peer, version, {topic: [0, 1], "nowhere": [0]}) == {
        topic: [(0, ErrorCode.ELECTION_NOT_NEEDED), (1, unknown)],
        "nowhere": [(0, unknown)],
    }


@pytest.mark.parametrize("version", versions(ApiKey.ELECT_LEADERS))
def test_of_all_topics_no_partition_had_to_elect(peer: Peer, topic: str, version: int) -> None:
    found = elected(peer, version, None)
    assert found[topic] == []
    assert not any(found.values())


def test_an_unknown_kind_of_election_is_refused(peer: Peer, topic: str) -> None:
    found = elected(peer, 2, {topic: [0]}, kind=2)
    assert found == {topic: [(0, ErrorCode.INVALID_REQUEST)]}


def reassigned(peer: Peer, topic: str, replicas: list[int] | None, partition: int = 0) -> ErrorCode:
    entry = alter_partition_reassignments.PARTITION(partition_index=partition, replicas=replicas)
    asked = alter_partition_reassignments.TOPIC(name=topic, partitions=[entry])
    row = alter_partition_reassignments.REQUEST(topics=[asked])
    answer = peer.ask(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 1, row)
    assert answer.error_code == ErrorCode.NONE
    return ErrorCode(answer.responses[0].partitions[0].error_code)


def test_a_partition_stays_where_it_is(peer: Peer, topic: str) -> None:
    assert reassigned(peer, topic, [NODE]) is ErrorCode.NONE
    assert reassigned(peer, topic, [ELSEWHERE]) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert reassigned(peer, topic, [NODE, ELSEWHERE]) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert reassigned(peer, topic, None) is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    assert reassigned(peer, topic, [NODE], partition=1) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert reassigned(peer, "nowhere", [NODE]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_no_reassignment_is_under_way(peer: Peer, topic: str) -> None:
    assert reassigned(peer, topic, [NODE]) is ErrorCode.NONE
    row = list_partition_reassignments.REQUEST(topics=None)
    answer = peer.ask(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, row)
    assert (answer.error_code, answer.topics) == (ErrorCode.NONE, [])


def moved(peer: Peer, version: int, *dirs: tuple[str, str, list[int]]) -> list[ErrorCode]:
    row = alter_replica_log_dirs.REQUEST(
        dirs=[
            alter_replica_log_dirs.DIR(
                path=path,
                topics=[alter_replica_log_dirs.TOPIC(name=name, partitions=numbers)],
            )
            for path, name, numbers in dirs
        ]
    )
    answer = peer.ask(ApiKey.ALTER_REPLICA_LOG_DIRS, version, row)
    return [ErrorCode(one.error_code) for topic in answer.results for one in topic.partitions]


@pytest.mark.parametrize("version", versions(ApiKey.ALTER_REPLICA_LOG_DIRS))
def test_there_is_one_directory_to_be_in(peer: Peer, topic: str, version: int) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert moved(peer, version, ("objects", topic, [0, 1])) == [ErrorCode.NONE, unknown]
    assert moved(peer, version, ("objects", "nowhere", [0])) == [unknown]
    assert moved(peer, version, ("/data", topic, [0])) == [ErrorCode.LOG_DIR_NOT_FOUND]


def test_of_two_directories_for_a_partition_the_last_counts(peer: Peer, topic: str) -> None:
    here, there = ("objects", topic, [0]), ("/data", topic, [0])
    assert moved(peer, 2, there, here) == [ErrorCode.NONE]
    assert moved(peer, 2, here, there) == [ErrorCode.LOG_DIR_NOT_FOUND]


@pytest.mark.parametrize("version", versions(ApiKey.DESCRIBE_QUORUM))
def test_the_quorum_is_the_one_node(peer: Peer, version: int) -> None:
    log = describe_quorum.PARTITION(partition_index=0)
    asked = describe_quorum.TOPIC(topic_name="__cluster_metadata", partitions=[log])
    row = describe_quorum.REQUEST(topics=[asked])
    answer = peer.ask(ApiKey.DESCRIBE_QUORUM, version, row)
    (partition,) = answer.topics[0].partitions
    assert (answer.error_code, partition.error_code, partition.leader_id) == (0, 0, NODE)
    assert [one.replica_id for one in partition.current_voters] == [NODE]
    if version >= 2:
        (listener,) = answer.nodes[0].listeners
        assert (listener.host, listener.port) == peer.socket.getpeername()


def resources(peer: Peer, version: int, *types: int) -> tuple[int, set[tuple[int, str]]]:
    row = list_config_resources.REQUEST(resource_types=list(types))
    answer = peer.ask(ApiKey.LIST_CONFIG_RESOURCES, version, row)
    found = {(one.resource_type, one.resource_name) for one in answer.config_resources}
    return answer.error_code, found


def test_topics_and_the_broker_have_configs(peer: Peer, topic: str) -> None:
    code, everything = resources(peer, 1)
    assert code == ErrorCode.NONE
    assert {(TOPIC, topic), (BROKER, str(NODE))} <= everything
    assert {kind for kind, _ in everything} == {TOPIC, BROKER}
    assert resources(peer, 1, BROKER) == (ErrorCode.NONE, {(BROKER, str(NODE))})
    assert resources(peer, 1, TOPIC)[1] == everything - {(BROKER, str(NODE))}
    assert resources(peer, 1, TOPIC, 99) == (ErrorCode.UNSUPPORTED_VERSION, set())


def test_there_are_no_client_metrics(peer: Peer, topic: str) -> None:
    assert resources(peer, 0) == (ErrorCode.NONE, set())
