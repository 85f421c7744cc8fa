"""The answer in which all that was asked for has failed, for every API and version."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from property.wire.strategies import BRIEF, rows

from samsa.wire.apis import APIS, Api, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    add_partitions_to_txn,
    delete_topics,
    describe_groups,
    fetch,
    find_coordinator,
    join_group,
    metadata,
    offset_fetch,
    produce,
)
from samsa.wire.rows import Row
from samsa_broker.testing.error_answers import NoPlace, error_answer

CODE = ErrorCode.NOT_LEADER_OR_FOLLOWER
FEW = settings(BRIEF, max_examples=4)
SERVED = [(api, version) for api in APIS.values() for version in api.versions]


def codes(row: Any) -> Iterator[int]:
    for name in row.field_names:
        value = getattr(row, name)
        if name.endswith("error_code"):
            yield value
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Row):
                yield from codes(each)


def sent(key: ApiKey, version: int, asked: Any) -> Any:
    """The answer as a client gets it."""
    api = APIS[key]
    row = error_answer(api, version, asked, CODE)
    return api.response.decode(version, memoryview(api.response.encode_bytes(version, row)))


@pytest.mark.parametrize(("api", "version"), SERVED, ids=str)
def test_every_answer_can_be_encoded_and_has_the_error(api: Api, version: int):
    @FEW
    @given(rows(api.request, version))
    def check(asked: Any) -> None:
        try:
            found = set(codes(sent(api.key, version, asked)))
        except NoPlace:
            assert not has_place_at_the_top(api, version)
        else:
            assert CODE in found

    check()


def has_place_at_the_top(api: Api, version: int) -> bool:
    """Without it, errors are only beside what was asked for, which may be nothing."""
    fields = api.response.fields
    return any(field.name == "error_code" and field.present(version) for field in fields)


def test_each_partition_of_a_produce_has_the_error_and_no_offset():
    partitions = [produce.PARTITION(index=number, records=b"r") for number in (3, 0)]
    asked = produce.REQUEST(topic_data=[produce.TOPIC(name="orders", partition_data=partitions)])
    (topic,) = sent(ApiKey.PRODUCE, 9, asked).responses
    told = [(each.index, each.error_code, each.base_offset) for each in topic.partition_responses]
    assert (topic.name, told) == ("orders", [(3, CODE, -1), (0, CODE, -1)])


def test_a_fetch_has_the_error_beside_its_partitions_and_not_at_the_top():
    partitions = [fetch.PARTITION(partition=2), fetch.PARTITION(partition=0)]
    row = fetch.REQUEST(topics=[fetch.TOPIC(topic="orders", partitions=partitions)])
    answer = sent(ApiKey.FETCH, 12, row)
    (topic,) = answer.responses
    told = [(p.partition_index, p.error_code, p.high_watermark) for p in topic.partitions]
    assert (answer.error_code, topic.topic) == (0, "orders")
    assert told == [(2, CODE, -1), (0, CODE, -1)]


def test_a_fetch_of_nothing_has_the_error_at_the_top():
    assert sent(ApiKey.FETCH, 12, fetch.REQUEST(topics=[])).error_code == CODE


def test_the_topics_that_metadata_was_asked_for_have_the_error():
    row = metadata.REQUEST(topics=[metadata.TOPIC(name="orders")])
    (topic,) = sent(ApiKey.METADATA, 9, row).topics
    assert (topic.name, topic.error_code) == ("orders", CODE)
    with pytest.raises(NoPlace, match="Metadata v9"):
        sent(ApiKey.METADATA, 9, metadata.REQUEST(topics=None))


def test_a_join_has_the_error_and_the_members_id():
    row = join_group.REQUEST(group_id="billing", member_id="m", protocols=[])
    answer = sent(ApiKey.JOIN_GROUP, 7, row)
    assert (answer.error_code, answer.member_id) == (CODE, "m")


def test_what_is_named_by_a_word_alone_has_the_error_beside_the_word():
    row = find_coordinator.REQUEST(coordinator_keys=["a", "b"])
    found = sent(ApiKey.FIND_COORDINATOR, 4, row).coordinators
    assert [(each.key, each.error_code) for each in found] == [("a", CODE), ("b", CODE)]
    groups = sent(ApiKey.DESCRIBE_GROUPS, 5, describe_groups.REQUEST(groups=["g"])).groups
    assert [(each.group_id, each.error_code) for each in groups] == [("g", CODE)]
    row = delete_topics.REQUEST(topic_names=["orders"])
    gone = sent(ApiKey.DELETE_TOPICS, 5, row).responses
    assert [(each.name, each.error_code) for each in gone] == [("orders", CODE)]


def test_the_fields_of_the_requests_own_version_are_read():
    """OffsetFetch and AddPartitionsToTxn ask for several things since some version."""
    asked = offset_fetch.REQUEST(
        groups=[offset_fetch.GROUP(group_id="g", topics=None)], group_id="other", topics=[]
    )
    (group,) = sent(ApiKey.OFFSET_FETCH, 8, asked).groups
    assert (group.group_id, group.error_code) == ("g", CODE)
    topic = add_partitions_to_txn.TOPIC(name="orders", partitions=[4])
    old = add_partitions_to_txn.REQUEST(v3_and_below_topics=[topic])
    (found,) = sent(ApiKey.ADD_PARTITIONS_TO_TXN, 3, old).results_by_topic_v3_and_below
    told = [(p.partition_index, p.partition_error_code) for p in found.results_by_partition]
    assert (found.name, told) == ("orders", [(4, CODE)])
