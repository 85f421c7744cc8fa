"""Rows: what a struct makes when it is called."""

import uuid

import pytest

from samsa.wire.messages import create_topics, fetch, metadata, produce
from samsa.wire.schema import INT32, STRING, Array, Field, Message, Struct

INNER = Struct("Inner", Array("numbers", INT32))
OUTER = Message("Outer", Field("inner", INNER), Field("label", STRING), flexible_since=0)


def test_fields_left_out_take_kafkas_defaults():
    row = fetch.PARTITION_RESPONSE(partition_index=3)
    assert row.partition_index == 3
    assert row.high_watermark == 0
    assert row.log_start_offset == -1
    assert row.aborted_transactions == []
    assert row.records is None
    assert row.current_leader == fetch.CURRENT_LEADER(leader_id=-1, leader_epoch=-1)


def test_defaults_differ_by_field_not_by_type():
    assert metadata.REQUEST().allow_auto_topic_creation is True
    assert metadata.BROKER().rack is None
    assert create_topics.CONFIG().value == ""
    assert metadata.TOPIC_RESPONSE().topic_id == uuid.UUID(int=0)


def test_a_keyword_that_is_no_field_is_refused():
    with pytest.raises(TypeError, match="partition"):
        produce.PARTITION(partition=1)


def test_a_null_array_is_not_an_empty_one():
    assert metadata.REQUEST(topics=None).topics is None
    assert metadata.REQUEST().topics == []


def test_two_rows_never_share_a_list():
    first, second = metadata.REQUEST(), metadata.REQUEST()
    first.topics.append(metadata.TOPIC(name="a"))
    assert second.topics == []


def test_two_rows_never_share_a_list_inside_a_nested_struct():
    first, second = OUTER(), OUTER()
    first.inner.numbers.append(1)
    assert second.inner.numbers == []


def test_a_shared_default_row_cannot_be_changed():
    row = produce.PARTITION_RESPONSE()
    with pytest.raises(AttributeError, match="shared default"):
        row.current_leader.leader_id = 5
    row.current_leader = produce.CURRENT_LEADER(leader_id=5)
    assert produce.PARTITION_RESPONSE().current_leader.leader_id == -1


def test_rows_are_equal_when_their_fields_are():
    assert produce.PARTITION(index=1) == produce.PARTITION(index=1)
    assert produce.PARTITION(index=1) != produce.PARTITION(index=2)


def test_rows_of_different_structs_are_never_equal():
    assert produce.CURRENT_LEADER() != fetch.CURRENT_LEADER()


def test_a_row_has_no_room_for_other_attributes():
    with pytest.raises(AttributeError):
        produce.PARTITION().offset = 1


def test_a_row_prints_as_the_call_that_makes_it():
    assert repr(produce.PARTITION(index=7)) == "PartitionProduceData(index=7, records=None)"
