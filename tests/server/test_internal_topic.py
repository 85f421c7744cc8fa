"""`__consumer_offsets`: there for who looks at it, and empty."""

from collections.abc import Iterator
from typing import Any

import pytest
from server.administer import delete_before, own_configs, pages
from server.members import commit, committed
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import append, batch, create, delete, describe, end_of, everything

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import find_coordinator, metadata

OFFSETS = "__consumer_offsets"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    """A broker that makes no topics for who names them."""
    with a_samsa(tmp_path_factory.mktemp("strict"), "--no-auto-create-topics") as samsa:
        yield samsa


@pytest.fixture
def fresh(strict: Samsa) -> Iterator[Peer]:
    """Without any topic."""
    with strict.peer() as peer:
        for name in listed(peer):
            assert delete(peer, name) == ErrorCode.NONE
        yield peer


def look_for_a_group(peer: Peer) -> None:
    row = find_coordinator.REQUEST(coordinator_keys=["family"])
    (found,) = peer.ask(ApiKey.FIND_COORDINATOR, 4, row).coordinators
    assert found.error_code == ErrorCode.NONE


def listed(peer: Peer) -> dict[str, Any]:
    answer = peer.ask(ApiKey.METADATA, 12, metadata.REQUEST(topics=None))
    return {topic.name: topic for topic in answer.topics}


def test_it_comes_with_the_first_search_for_a_coordinator(fresh: Peer) -> None:
    create(fresh, "plain")
    assert listed(fresh).keys() == {"plain"}
    look_for_a_group(fresh)
    found = listed(fresh)
    assert {name: topic.is_internal for name, topic in found.items()} == {
        "plain": False,
        OFFSETS: True,
    }
    assert len(found[OFFSETS].partitions) == 50
    assert own_configs(fresh, OFFSETS)["cleanup.policy"] == "compact"
    (page,) = pages(fresh, OFFSETS).topics
    assert page.is_internal


def test_it_is_made_once(fresh: Peer) -> None:
    look_for_a_group(fresh)
    first = listed(fresh)[OFFSETS].topic_id
    look_for_a_group(fresh)
    assert listed(fresh)[OFFSETS].topic_id == first


def test_a_search_for_a_transaction_does_not_make_it(fresh: Peer) -> None:
    row = find_coordinator.REQUEST(key_type=1, coordinator_keys=["x"])
    fresh.ask(ApiKey.FIND_COORDINATOR, 4, row)
    assert not listed(fresh)


def test_it_comes_back_when_it_was_deleted(fresh: Peer) -> None:
    look_for_a_group(fresh)
    assert delete(fresh, OFFSETS) == ErrorCode.NONE
    assert not listed(fresh)
    look_for_a_group(fresh)
    assert OFFSETS in listed(fresh)


def test_commits_do_not_go_there_and_outlive_it(fresh: Peer) -> None:
    create(fresh, "plain")
    look_for_a_group(fresh)
    commit(fresh, "family", {("plain", 0): 7})
    assert [end_of(fresh, OFFSETS, partition) for partition in range(50)] == [0] * 50
    assert delete(fresh, OFFSETS) == ErrorCode.NONE
    assert committed(fresh, "family") == {("plain", 0): 7}


def test_nobody_writes_to_it_or_deletes_its_records(fresh: Peer) -> None:
    look_for_a_group(fresh)
    for partition in (0, 49):
        answer = append(fresh, OFFSETS, batch(b"x"), partition=partition)
        assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert delete_before(fresh, OFFSETS, -1) == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)
    assert everything(fresh, OFFSETS) == []


def test_one_that_is_not_there_is_known_for_what_it_is(fresh: Peer) -> None:
    (told,) = describe(fresh, OFFSETS).topics
    assert (told.error_code, told.is_internal) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, True)


def test_made_by_who_asks_for_it_by_name_it_is_the_same(samsa: Samsa) -> None:
    """Where topics are made for who asks."""
    with samsa.peer() as peer:
        (told,) = describe(peer, OFFSETS, create=True).topics
        assert (told.error_code, told.is_internal, len(told.partitions)) == (0, True, 50)
        assert own_configs(peer, OFFSETS)["cleanup.policy"] == "compact"
