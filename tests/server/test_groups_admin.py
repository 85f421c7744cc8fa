"""What tools ask about groups: list, describe, delete, delete offsets."""

from collections.abc import Callable
from typing import Any

import pytest
from server.members import METADATA, Member, alone, commit, committed, subscription
from server.peer import Peer

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    consumer_group_describe,
    delete_groups,
    describe_groups,
    list_groups,
    offset_delete,
)

Connect = Callable[[], Peer]


def listed(peer: Peer, version: int = 5, **filters: Any) -> dict[str, tuple[str, str, str]]:
    row = list_groups.REQUEST(
        states_filter=filters.get("states", []), types_filter=filters.get("types", [])
    )
    answer = peer.ask(ApiKey.LIST_GROUPS, version, row)
    assert answer.error_code == ErrorCode.NONE
    return {g.group_id: (g.group_state, g.group_type, g.protocol_type) for g in answer.groups}


def described(peer: Peer, group: str, version: int = 6) -> Any:
    row = describe_groups.REQUEST(groups=[group])
    return peer.ask(ApiKey.DESCRIBE_GROUPS, version, row).groups[0]


def deleted(peer: Peer, *groups: str, version: int = 2) -> list[ErrorCode]:
    """In the order of asking, which is not everybody's order of answering."""
    row = delete_groups.REQUEST(groups_names=list(groups))
    results = peer.ask(ApiKey.DELETE_GROUPS, version, row).results
    codes = {result.group_id: ErrorCode(result.error_code) for result in results}
    return [codes[group] for group in groups]


def delete_offsets(peer: Peer, group: str, topic: str, *partitions: int) -> Any:
    rows = [offset_delete.PARTITION(partition_index=number) for number in partitions]
    row = offset_delete.REQUEST(
        group_id=group, topics=[offset_delete.TOPIC(name=topic, partitions=rows)]
    )
    return peer.ask(ApiKey.OFFSET_DELETE, 0, row)


def test_groups_are_listed_with_members_or_with_offsets(
    connect: Connect, topic: str, new_name: str
):
    one, two, three = (f"{new_name}-{n}" for n in (1, 2, 3))
    member = alone(connect(), one)
    tool = connect()
    commit(tool, two, {(topic, 0): 1})
    alone(tool, three).leave()
    found = listed(tool)
    assert found[one] == ("Stable", "classic", "consumer")
    assert found[two] == ("Empty", "classic", "")
    assert found[three] == ("Empty", "classic", "consumer")
    member.leave()


def test_a_list_can_be_narrowed(connect: Connect, topic: str, new_name: str):
    stable, empty = f"{new_name}-stable", f"{new_name}-empty"
    alone(connect(), stable)
    tool = connect()
    commit(tool, empty, {(topic, 0): 1})
    assert stable in listed(tool, states=["stable"])
    assert empty not in listed(tool, states=["Stable"])
    assert empty in listed(tool, states=["Empty"], types=["Classic"])
    assert stable not in listed(tool, types=["consumer"])


@pytest.mark.parametrize("version", range(6))
def test_every_version_lists(connect: Connect, new_name: str, version: int):
    alone(connect(), new_name)
    state, kind, protocol_type = listed(connect(), version)[new_name]
    assert protocol_type == "consumer"
    assert state == ("Stable" if version >= 4 else "")
    assert kind == ("classic" if version >= 5 else "")


@pytest.mark.parametrize("version", range(7))
def test_a_stable_group_shows_its_members(connect: Connect, new_name: str, version: int):
    member = alone(connect(), new_name, instance_id="desk")
    seen = described(connect(), new_name, version)
    assert (seen.error_code, seen.group_state) == (ErrorCode.NONE, "Stable")
    assert (seen.protocol_type, seen.protocol_data) == ("consumer", "range")
    (shown,) = seen.members
    assert shown.member_id == member.member_id
    assert (shown.client_id, shown.client_host) == ("peer", "/127.0.0.1")
    assert bytes(shown.member_metadata) == METADATA
    assert bytes(shown.member_assignment) == b"everything"
    assert shown.group_instance_id == ("desk" if version >= 4 else None)


def test_a_group_that_joins_shows_no_assignment_yet(connect: Connect, new_name: str):
    Member(connect(), new_name).join()
    seen = described(connect(), new_name)
    assert seen.group_state == "CompletingRebalance"
    assert bytes(seen.members[0].member_assignment) == b""


def test_an_unknown_group_is_dead_and_from_version_6_on_an_error(peer: Peer, new_name: str):
    old, new = described(peer, new_name, 5), described(peer, new_name, 6)
    assert (old.error_code, old.group_state) == (ErrorCode.NONE, "Dead")
    assert (new.error_code, new.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")
    assert new.error_message


def test_a_group_of_offsets_only_is_empty(peer: Peer, topic: str, new_name: str):
    commit(peer, new_name, {(topic, 0): 1})
    seen = described(peer, new_name)
    assert (seen.error_code, seen.group_state, seen.members) == (ErrorCode.NONE, "Empty", [])


def test_the_other_protocols_describe_does_not_find_a_classic_group(peer: Peer, new_name: str):
    alone(peer, new_name)
    row = consumer_group_describe.REQUEST(group_ids=[new_name, "nobody", ""])
    answers = peer.ask(ApiKey.CONSUMER_GROUP_DESCRIBE, 1, row).groups
    assert {group.group_id: group.error_code for group in answers} == {
        new_name: ErrorCode.GROUP_ID_NOT_FOUND,
        "nobody": ErrorCode.GROUP_ID_NOT_FOUND,
        "": ErrorCode.INVALID_GROUP_ID,
    }


@pytest.mark.parametrize("version", range(3))
def test_an_empty_group_is_deleted_and_one_with_members_is_not(
    connect: Connect, topic: str, new_name: str, version: int
):
    member = alone(connect(), new_name)
    member.commit(topic, 3)
    tool = connect()
    assert deleted(tool, new_name, "nobody", "", version=version) == [
        ErrorCode.NON_EMPTY_GROUP,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.GROUP_ID_NOT_FOUND,
    ]
    member.leave()
    assert deleted(tool, new_name) == [ErrorCode.NONE]
    assert committed(tool, new_name) == {}
    assert new_name not in listed(tool)
    assert described(tool, new_name).group_state == "Dead"


def test_a_group_of_a_deleted_ones_name_starts_at_its_first_generation(
    connect: Connect, topic: str, new_name: str
):
    for _ in range(3):
        member = alone(connect(), new_name)
        member.commit(topic, 5)
        member.leave()
    deleted(connect(), new_name)
    again = alone(connect(), new_name)
    assert again.generation == 1
    assert again.commit(topic, 1) == ErrorCode.NONE


def test_a_group_of_offsets_only_is_deleted_too(peer: Peer, topic: str, new_name: str):
    commit(peer, new_name, {(topic, 0): 1})
    assert deleted(peer, new_name) == [ErrorCode.NONE]
    assert deleted(peer, new_name) == [ErrorCode.GROUP_ID_NOT_FOUND]


def test_offsets_are_deleted_of_topics_that_nobody_subscribes_to(
    connect: Connect, topic: str, new_name: str
):
    reader = alone(connect(), new_name, protocols=(("range", subscription("other")),))
    reader.commit(topic, 3)
    tool = connect()
    answer = delete_offsets(tool, new_name, topic, 0, 9)
    assert answer.error_code == ErrorCode.NONE
    assert {p.partition_index: p.error_code for p in answer.topics[0].partitions} == {
        0: ErrorCode.NONE,
        9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert committed(tool, new_name) == {}


def test_offsets_of_a_topic_that_is_read_stay(connect: Connect, topic: str, new_name: str):
    reader = alone(connect(), new_name, protocols=(("range", subscription(topic)),))
    reader.commit(topic, 3)
    tool = connect()
    answer = delete_offsets(tool, new_name, topic, 0)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert committed(tool, new_name) == {(topic, 0): 3}
    reader.leave()
    answer = delete_offsets(tool, new_name, topic, 0)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
    assert committed(tool, new_name) == {}


def test_an_unknown_group_has_no_offsets_to_delete(peer: Peer, topic: str):
    answer = delete_offsets(peer, "nobody", topic, 0)
    assert (answer.error_code, answer.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
