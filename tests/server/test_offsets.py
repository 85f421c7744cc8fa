"""Committed offsets, on the wire."""

from collections.abc import Callable, Iterator

import pytest
from server.members import (
    Member,
    alone,
    commit,
    commit_row,
    committed,
    fetch_offsets,
)
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import create, delete, describe
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import offset_commit, offset_fetch

Connect = Callable[[], Peer]
NO_SUCH = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_member_commits_and_anyone_may_ask_what(connect: Connect, topic: str, new_name: str):
    member = alone(connect(), new_name)
    assert member.commit(topic, 7, metadata="page 3") == ErrorCode.NONE
    answer = fetch_offsets(connect(), new_name, {topic: [0]}).topics[0].partitions[0]
    assert (answer.committed_offset, answer.metadata) == (7, "page 3")
    assert answer.error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", range(10))
def test_every_version_of_commit_is_stored(peer: Peer, topic: str, new_name: str, version: int):
    group = f"{new_name}-{version}"
    assert commit(peer, group, {(topic, 0): 5}, version) == {(topic, 0): ErrorCode.NONE}
    assert committed(peer, group) == {(topic, 0): 5}


@pytest.mark.parametrize("version", range(10))
def test_every_version_of_fetch_finds_it(peer: Peer, topic: str, new_name: str, version: int):
    commit(peer, new_name, {(topic, 0): 5}, metadata="note")
    answer = fetch_offsets(peer, new_name, {topic: [0, 9]}, version)
    found = answer.topics[0].partitions
    assert [(p.partition_index, p.committed_offset) for p in found] == [(0, 5), (9, -1)]
    assert [p.metadata for p in found] == ["note", ""]


def test_topics_are_committed_and_fetched_by_id(peer: Peer, topic: str, new_name: str):
    topic_id = describe(peer, topic).topics[0].topic_id
    row = commit_row(new_name, {(topic, 0): 5})
    row.topics[0].topic_id = topic_id
    answer = peer.ask(ApiKey.OFFSET_COMMIT, 10, row).topics[0]
    assert (answer.topic_id, answer.partitions[0].error_code) == (topic_id, ErrorCode.NONE)
    named = [offset_fetch.GROUP_TOPIC(topic_id=topic_id, partition_indexes=[0])]
    for topics in (named, None):
        asked = offset_fetch.GROUP(group_id=new_name, topics=topics)
        fetched = peer.ask(ApiKey.OFFSET_FETCH, 10, offset_fetch.REQUEST(groups=[asked]))
        (found,) = fetched.groups[0].topics
        assert (found.topic_id, found.partitions[0].committed_offset) == (topic_id, 5)


def test_an_unknown_id_is_refused(peer: Peer, new_name: str):
    row = offset_commit.REQUEST(
        group_id=new_name,
        topics=[offset_commit.TOPIC(partitions=[offset_commit.PARTITION(partition_index=0)])],
    )
    answer = peer.ask(ApiKey.OFFSET_COMMIT, 10, row).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID
    asked = offset_fetch.GROUP(
        group_id=new_name, topics=[offset_fetch.GROUP_TOPIC(partition_indexes=[0])]
    )
    fetched = peer.ask(ApiKey.OFFSET_FETCH, 10, offset_fetch.REQUEST(groups=[asked])).groups[0]
    found = fetched.topics[0].partitions[0]
    assert (found.error_code, found.committed_offset) == (ErrorCode.UNKNOWN_TOPIC_ID, -1)


def test_an_unknown_group_has_no_offsets_and_that_is_no_error(peer: Peer, topic: str):
    assert committed(peer, "nobody", topics={topic: [0], "no-such": [3]}) == {
        (topic, 0): -1,
        ("no-such", 3): -1,
    }
    assert committed(peer, "nobody") == {}


def test_several_groups_are_asked_for_at_once(peer: Peer, topic: str, new_name: str):
    commit(peer, f"{new_name}-a", {(topic, 0): 1})
    commit(peer, f"{new_name}-b", {(topic, 0): 2})
    names = [f"{new_name}-{letter}" for letter in "abc"]
    row = offset_fetch.REQUEST(groups=[offset_fetch.GROUP(group_id=n, topics=None) for n in names])
    groups = peer.ask(ApiKey.OFFSET_FETCH, 8, row).groups
    assert [group.group_id for group in groups] == names
    assert [[p.committed_offset for t in g.topics for p in t.partitions] for g in groups] == [
        [1],
        [2],
        [],
    ]


def test_a_bad_partition_does_not_spoil_its_neighbours(peer: Peer, topic: str, new_name: str):
    offsets = {(topic, 0): 5, (topic, 1): 6, ("no-such", 0): 7}
    assert commit(peer, new_name, offsets) == {
        (topic, 0): ErrorCode.NONE,
        (topic, 1): NO_SUCH,
        ("no-such", 0): NO_SUCH,
    }
    assert committed(peer, new_name) == {(topic, 0): 5}


def test_metadata_has_a_limit(peer: Peer, topic: str, new_name: str):
    def store(length: int) -> ErrorCode:
        return commit(peer, new_name, {(topic, 0): length}, metadata="ü" * length)[topic, 0]

    assert store(4096) == ErrorCode.NONE
    assert store(4097) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert committed(peer, new_name) == {(topic, 0): 4096}


def test_a_generation_that_is_not_the_current_one_stores_nothing(
    peer: Peer, topic: str, new_name: str
):
    member = alone(peer, new_name)
    member.commit(topic, 7)
    for generation in (0, 2):
        refused = member.commit(topic, 3, generation_id_or_member_epoch=generation)
        assert refused == ErrorCode.ILLEGAL_GENERATION
    assert member.commit(topic, 3, member_id="stranger") == ErrorCode.UNKNOWN_MEMBER_ID
    assert committed(peer, new_name) == {(topic, 0): 7}


def test_a_member_may_not_commit_before_it_knows_its_assignment(
    peer: Peer, topic: str, new_name: str
):
    member = Member(peer, new_name)
    member.join()
    assert member.commit(topic, 3) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_generation_without_a_group_is_refused(peer: Peer, topic: str, new_name: str):
    for version, code in ((8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)):
        named = {"generation_id_or_member_epoch": 4, "member_id": "nobody"}
        assert commit(peer, new_name, {(topic, 0): 3}, version, **named) == {(topic, 0): code}


def test_who_is_no_member_commits_only_while_the_group_is_empty(
    connect: Connect, topic: str, new_name: str
):
    member = alone(connect(), new_name)
    tool = connect()
    assert commit(tool, new_name, {(topic, 0): 3}) == {(topic, 0): ErrorCode.UNKNOWN_MEMBER_ID}
    member.leave()
    assert commit(tool, new_name, {(topic, 0): 3}) == {(topic, 0): ErrorCode.NONE}
    assert committed(tool, new_name) == {(topic, 0): 3}


def test_a_deleted_topics_offsets_are_not_those_of_the_next_of_its_name(
    peer: Peer, topic: str, new_name: str
):
    commit(peer, new_name, {(topic, 0): 9})
    delete(peer, topic)
    create(peer, topic)
    assert eventually(lambda: committed(peer, new_name) == {})


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    options = ("--upkeep-interval", "0.2", "--offsets-retention-minutes", "1")
    with a_samsa(tmp_path_factory.mktemp("forgetful"), *options) as running:
        yield running


def test_upkeep_keeps_what_is_young_and_forgets_what_was_to_be_kept_for_a_moment(
    forgetful: Samsa,
):
    with forgetful.peer() as peer:
        create(peer, "letters")
        commit(peer, "young", {("letters", 0): 1})
        commit(peer, "brief", {("letters", 0): 1}, version=2, retention_time_ms=50)
        assert eventually(lambda: committed(peer, "brief") == {})
        assert committed(peer, "young") == {("letters", 0): 1}


def test_offsets_that_are_to_be_kept_for_ever_are(connect: Connect, topic: str, new_name: str):
    peer = connect()
    commit(peer, new_name, {(topic, 0): 4}, version=2, retention_time_ms=2**63 - 1)
    assert committed(peer, new_name) == {(topic, 0): 4}
