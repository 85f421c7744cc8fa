"""Topics as an administrator makes, widens and describes them."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from server.administer import (
    assignments,
    log_dir,
    own_configs,
    pages,
    producers_of,
    sizes,
    try_to_create,
    widen,
)
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import (
    NOW,
    append,
    batch,
    create,
    delete,
    describe,
    end_of,
    everything,
    new_producer_id,
    values,
    write,
)
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_partitions, create_topics

OK = (ErrorCode.NONE, None)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Samsa, Samsa]]:
    """Two processes on one ledger and one folder."""
    folder = tmp_path_factory.mktemp("admins")
    with (
        a_samsa(folder / "one") as one,
        a_samsa(folder / "two", "--data", str(folder / "one" / "data")) as two,
    ):
        yield one, two


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"num_partitions": 0}, ErrorCode.INVALID_PARTITIONS),
        ({"num_partitions": -2}, ErrorCode.INVALID_PARTITIONS),
        ({"num_partitions": 10_001}, ErrorCode.INVALID_PARTITIONS),
        ({"replication_factor": 0}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ({"replication_factor": -2}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ({"assignments": assignments([0], [1])}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ({"assignments": assignments([0, 0])}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ({"assignments": assignments([])}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ({"assignments": assignments([0])[:1] * 2}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ({"assignments": assignments([0], [0])[1:]}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ({"assignments": assignments([0]), "num_partitions": 1}, ErrorCode.INVALID_REQUEST),
        ({"assignments": assignments([0]), "replication_factor": 1}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_wish_that_cannot_be_granted_names_what_is_wrong_and_makes_nothing(
    wish: dict, code: ErrorCode, peer: Peer, new_name: str
) -> None:
    told = try_to_create(peer, new_name, **wish)
    assert ErrorCode(told.error_code) is code
    assert told.error_message
    assert describe(peer, new_name).topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_an_assignment_to_the_one_node_is_granted_and_so_is_any_replication_factor(
    peer: Peer, new_name: str
) -> None:
    told = try_to_create(peer, new_name, assignments=assignments([0], [0], [0]))
    assert (told.error_code, told.num_partitions) == (ErrorCode.NONE, 3)
    more = try_to_create(peer, f"{new_name}-more", replication_factor=3)
    assert (more.error_code, more.replication_factor) == (ErrorCode.NONE, 1)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "ä", "x" * 250, "with space"])
def test_a_name_that_kafka_would_refuse_is_refused(name: str, peer: Peer) -> None:
    told = try_to_create(peer, name)
    assert ErrorCode(told.error_code) is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert told.error_message.startswith("Topic name ")


def test_names_that_differ_by_a_dot_and_an_underscore_collide(peer: Peer, new_name: str) -> None:
    create(peer, f"{new_name}.a_b")
    for twin in (f"{new_name}.a.b", f"{new_name}_a_b"):
        told = try_to_create(peer, twin)
        assert ErrorCode(told.error_code) is ErrorCode.INVALID_TOPIC_EXCEPTION
        assert f"collides with existing topic: {new_name}.a_b" in told.error_message
        # Clients that only write to it are told the same.
        refused = describe(peer, twin, create=True).topics[0]
        assert ErrorCode(refused.error_code) is ErrorCode.INVALID_TOPIC_EXCEPTION
    same = try_to_create(peer, f"{new_name}.a_b")
    assert ErrorCode(same.error_code) is ErrorCode.TOPIC_ALREADY_EXISTS


def test_a_topic_that_is_named_twice_in_a_request_is_not_made(peer: Peer, new_name: str) -> None:
    asked = [
        create_topics.TOPIC(name=name, num_partitions=1, replication_factor=1)
        for name in (new_name, f"{new_name}-other", new_name)
    ]
    told = peer.ask(ApiKey.CREATE_TOPICS, 7, create_topics.REQUEST(topics=asked)).topics
    codes = {one.name: ErrorCode(one.error_code) for one in told}
    assert codes == {new_name: ErrorCode.INVALID_REQUEST, f"{new_name}-other": ErrorCode.NONE}
    assert len(told) == 2


def test_what_is_only_validated_is_not_made(peer: Peer, new_name: str) -> None:
    told = try_to_create(peer, new_name, dry_run=True, num_partitions=7)
    assert (told.error_code, told.num_partitions) == (ErrorCode.NONE, 7)
    assert describe(peer, new_name).topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    create(peer, new_name)
    again = try_to_create(peer, new_name, dry_run=True)
    assert ErrorCode(again.error_code) is ErrorCode.TOPIC_ALREADY_EXISTS


@pytest.mark.parametrize("version", range(4))
def test_a_topic_grows_and_its_records_stay(version: int, peer: Peer, new_name: str) -> None:
    create(peer, new_name, partitions=2, retention_ms="-1")
    write(peer, new_name, b"old", partition=1)
    assert widen(peer, new_name, 5, version=version) == OK
    assert len(describe(peer, new_name).topics[0].partitions) == 5
    assert write(peer, new_name, b"new", partition=4) == 0
    assert values(everything(peer, new_name, partition=1)) == [b"old"]
    assert values(everything(peer, new_name, partition=4)) == [b"new"]
    assert own_configs(peer, new_name) == {"retention.ms": "-1"}


@pytest.mark.parametrize(
    ("count", "replicas", "code"),
    [
        (2, None, ErrorCode.INVALID_PARTITIONS),
        (1, None, ErrorCode.INVALID_PARTITIONS),
        (0, None, ErrorCode.INVALID_PARTITIONS),
        (-1, None, ErrorCode.INVALID_PARTITIONS),
        (10_001, None, ErrorCode.INVALID_PARTITIONS),
        (4, [[0]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (4, [[0], [0], [0]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (4, [[0], [1]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (4, [[0], []], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (4, [[0, 0], [0]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_a_topic_never_shrinks_and_grows_only_on_the_one_node(
    count: int, replicas: list | None, code: ErrorCode, peer: Peer, new_name: str
) -> None:
    create(peer, new_name, partitions=2)
    told, message = widen(peer, new_name, count, replicas)
    assert told is code
    assert message
    assert len(describe(peer, new_name).topics[0].partitions) == 2


def test_growing_may_be_tried_without_doing_it(peer: Peer, topic: str) -> None:
    assert widen(peer, topic, 3, [[0], [0]], dry_run=True) == OK
    assert len(describe(peer, topic).topics[0].partitions) == 1
    assert widen(peer, topic, 3, [[0], [0]]) == OK
    assert len(describe(peer, topic).topics[0].partitions) == 3


def test_what_is_not_there_does_not_grow_nor_what_is_named_twice(peer: Peer, topic: str) -> None:
    assert widen(peer, "nowhere", 3)[0] is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    asked = [create_partitions.TOPIC(name=topic, count=n, assignments=None) for n in (2, 3)]
    row = create_partitions.REQUEST(topics=asked, timeout_ms=1_000)
    told = peer.ask(ApiKey.CREATE_PARTITIONS, 3, row).results
    assert [ErrorCode(one.error_code) for one in told] == [ErrorCode.INVALID_REQUEST]
    assert len(describe(peer, topic).topics[0].partitions) == 1


def test_another_process_writes_to_a_new_partition_within_a_second(
    pair: tuple[Samsa, Samsa], new_name: str
) -> None:
    with pair[0].peer() as here, pair[1].peer() as there:
        create(here, new_name)
        write(there, new_name, b"the other process knows the topic")
        assert widen(here, new_name, 3) == OK
        # At first it may not know; a client asks again.
        assert eventually(
            lambda: append(there, new_name, batch(b"x"), partition=2).error_code == 0, seconds=2
        )
        assert eventually(lambda: len(describe(there, new_name).topics[0].partitions) == 3)
        assert end_of(here, new_name, partition=2) == 1


def test_of_two_processes_that_grow_a_topic_both_are_answered_by_what_is_true(
    pair: tuple[Samsa, Samsa], new_name: str
) -> None:
    with pair[0].peer() as here, pair[1].peer() as there:
        create(here, new_name)
        for peer, count in ((here, 4), (there, 3), (there, 6), (here, 6)):
            row = create_partitions.REQUEST(
                topics=[create_partitions.TOPIC(name=new_name, count=count, assignments=None)],
                timeout_ms=10_000,
            )
            peer.send(ApiKey.CREATE_PARTITIONS, 3, row)
        told = [peer.answer().results[0].error_code for peer in (here, here, there, there)]
        assert set(told) <= {ErrorCode.NONE, ErrorCode.INVALID_PARTITIONS}
        # Both are, if both found the topic at the same size: a change that is there already
        # is a change that was made, or whoever repeats one whose answer was lost would be refused.
        assert ErrorCode.NONE in (told[1], told[3])
        assert len(describe(here, new_name).topics[0].partitions) == 6
        for number in range(6):
            assert write(here, new_name, b"x", partition=number) == 0


def test_more_partitions_survive_the_end_of_the_process(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            create(peer, "t")
            assert widen(peer, "t", 3) == OK
            write(peer, "t", b"x", partition=2)
        samsa.kill()
        samsa.again()
        with samsa.peer() as peer:
            assert len(describe(peer, "t").topics[0].partitions) == 3
            assert values(everything(peer, "t", partition=2)) == [b"x"]


def test_of_a_topic_that_grew_nothing_is_left_when_it_is_deleted(
    peer: Peer, samsa: Samsa, new_name: str
) -> None:
    made = create(peer, new_name)
    widen(peer, new_name, 4)
    for number in range(4):
        write(peer, new_name, b"x", partition=number)
    assert delete(peer, new_name) == ErrorCode.NONE
    assert eventually(lambda: not samsa.objects(made.topic_id))
    create(peer, new_name, partitions=4)
    assert [end_of(peer, new_name, partition=number) for number in range(4)] == [0] * 4


def test_partitions_are_described_page_by_page(peer: Peer, new_name: str) -> None:
    names = [f"{new_name}-{letter}" for letter in "abc"]
    for name, count in zip(names, (3, 1, 4), strict=True):
        create(peer, name, partitions=count)
    seen, cursor, rounds = [], None, 0
    while cursor is not None or not rounds:
        page = pages(peer, *reversed(names), limit=2, cursor=cursor)
        found = [(t.name, p.partition_index) for t in page.topics for p in t.partitions]
        assert len(found) <= 2
        seen += found
        cursor, rounds = page.next_cursor, rounds + 1
    assert seen == [(name, n) for name, m in zip(names, (3, 1, 4), strict=True) for n in range(m)]
    assert rounds == 4


def test_a_described_partition_has_one_replica_and_no_names_mean_all_topics(
    peer: Peer, topic: str
) -> None:
    found = {one.name: one for one in pages(peer).topics}
    (partition,) = found[topic].partitions
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (0, [0], [0])
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])
    assert found[topic].topic_id == describe(peer, topic).topics[0].topic_id


def test_a_topic_that_is_not_there_is_described_as_an_error(peer: Peer, topic: str) -> None:
    found = {one.name: one for one in pages(peer, topic, "nowhere", "a/b").topics}
    assert found[topic].error_code == ErrorCode.NONE
    assert found["nowhere"].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert found["nowhere"].topic_id == UUID(int=0)
    assert found["a/b"].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_log_dir_has_the_bytes_of_what_was_written(peer: Peer, new_name: str) -> None:
    create(peer, new_name, partitions=2)
    data = batch(b"x" * 1_000)
    for _ in range(3):
        append(peer, new_name, data, partition=1)
    expected = {(new_name, 0): 0, (new_name, 1): 3 * len(data)}
    assert sizes(peer, {new_name: [0, 1, 2], "nowhere": [0]}) == expected
    assert sizes(peer, None).items() >= expected.items()
    assert sizes(peer, {}) == {}


@pytest.mark.parametrize("version", range(6))
def test_there_is_one_log_dir_at_every_version(version: int, peer: Peer, topic: str) -> None:
    directory = log_dir(peer, {topic: [0]}, version)
    assert directory.log_dir
    assert directory.error_code == ErrorCode.NONE
    assert [one.name for one in directory.topics] == [topic]


def test_producers_are_described_by_their_last_batch(peer: Peer, topic: str) -> None:
    assert producers_of(peer, topic).active_producers == []
    ids = [new_producer_id(peer), new_producer_id(peer)]
    for producer_id, counts in zip(ids, ((2, 3), (1,)), strict=True):
        first = 0
        for count in counts:
            data = batch(
                *[b"x"] * count,
                timestamp=NOW + first,
                producer_id=producer_id,
                producer_epoch=0,
                base_sequence=first,
            )
            assert append(peer, topic, data).error_code == ErrorCode.NONE
            first += count
    write(peer, topic, b"of nobody")
    found = producers_of(peer, topic).active_producers
    assert [(p.producer_id, p.producer_epoch, p.last_sequence) for p in found] == [
        (ids[0], 0, 4),
        (ids[1], 0, 0),
    ]
    assert [p.last_timestamp for p in found] == [NOW + 2 + 2, NOW]
    assert {p.current_txn_start_offset for p in found} == {-1}


def test_producers_of_what_is_not_there_are_an_error(peer: Peer, topic: str) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert producers_of(peer, topic, 5).error_code == unknown
    assert producers_of(peer, "nowhere").error_code == unknown
