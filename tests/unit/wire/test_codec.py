"""Codecs, against bytes written out by hand."""

import tracemalloc
import uuid

import pytest

from samsa.wire.errors import DecodeError
from samsa.wire.messages import api_versions, fetch, list_offsets, metadata, produce
from samsa.wire.schema import (
    BOOLEAN,
    BYTES,
    FLOAT64,
    INT8,
    INT32,
    RECORDS,
    STRING,
    UINT16,
    UINT32,
    UUID,
    Array,
    Field,
    Message,
    Struct,
)

TOPIC_ID = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")


def view(text: str) -> memoryview:
    return memoryview(bytes.fromhex(text))


def test_produce_v0_is_what_kafka_0_8_sends():
    body = view(
        "ffff 000003e8"  # acks -1, timeout 1000
        "00000001 0003 666f6f"  # one topic, "foo"
        "00000001 00000002 00000003 aabbcc"  # one partition, 2, three bytes of records
    )
    row = produce.REQUEST.decode(0, body)
    assert (row.acks, row.timeout_ms, row.transactional_id) == (-1, 1000, None)
    assert row.topic_data[0].name == "foo"
    assert row.topic_data[0].partition_data == [produce.PARTITION(index=2, records=b"\xaa\xbb\xcc")]
    assert produce.REQUEST.encode_bytes(0, row) == body


def test_produce_v13_names_topics_by_id_and_is_compact():
    body = view(
        "00 0001 00007530"  # no transaction, acks 1, timeout 30000
        f"02 {TOPIC_ID.hex}"  # one topic
        "02 00000000 03 aabb 00"  # one partition, 0, two bytes of records, no tags
        "00 00"  # no tags of the topic, none of the request
    )
    row = produce.REQUEST.decode(13, body)
    assert row.topic_data[0].topic_id == TOPIC_ID
    assert row.topic_data[0].name == ""
    assert produce.REQUEST.encode_bytes(13, row) == body


def test_list_offsets_v0_asks_for_a_number_of_offsets_and_gets_a_list():
    request = view("ffffffff 00000001 0001 74 00000001 00000000 ffffffffffffffff 00000002")
    assert list_offsets.REQUEST.decode(0, request).topics[0].partitions[0].max_num_offsets == 2
    partition = list_offsets.PARTITION_RESPONSE(old_style_offsets=[9, 0])
    topic = list_offsets.TOPIC_RESPONSE(name="t", partitions=[partition])
    response = list_offsets.RESPONSE.encode_bytes(0, list_offsets.RESPONSE(topics=[topic]))
    assert response == view(
        "00000001 0001 74 00000001 00000000 0000 00000002 0000000000000009 0000000000000000"
    )


def test_a_null_array_and_an_empty_one_are_told_apart_from_v1_on():
    assert metadata.REQUEST.decode(1, view("ffffffff")).topics is None
    assert metadata.REQUEST.decode(1, view("00000000")).topics == []
    assert metadata.REQUEST.decode(12, view("00 01 00 00")).topics is None
    assert metadata.REQUEST.encode_bytes(12, metadata.REQUEST(topics=None)) == view("00 01 00 00")
    with pytest.raises(DecodeError, match="topics"):
        metadata.REQUEST.decode(0, view("ffffffff"))


def test_a_field_that_the_version_lacks_is_not_written():
    row = api_versions.RESPONSE(throttle_time_ms=9, finalized_features_epoch=4)
    assert api_versions.RESPONSE.encode_bytes(0, row) == view("0000 00000000")


def test_tagged_fields_are_written_in_order_and_only_when_they_say_something():
    row = api_versions.RESPONSE(zk_migration_ready=True, finalized_features_epoch=4)
    body = view("0000 01 00000000 02 01 08 0000000000000004 03 01 01")
    assert api_versions.RESPONSE.encode_bytes(3, row) == body
    assert api_versions.RESPONSE.decode(3, body) == row
    assert api_versions.RESPONSE.encode_bytes(3, api_versions.RESPONSE()) == view(
        "0000 01 00000000 00"
    )


def test_a_tagged_struct_equal_to_its_default_is_not_written():
    def encoded(**leader):
        partition = produce.PARTITION_RESPONSE(**leader)
        topic = produce.TOPIC_RESPONSE(name="t", partition_responses=[partition])
        return produce.RESPONSE.encode_bytes(10, produce.RESPONSE(responses=[topic]))

    assert encoded(current_leader=produce.CURRENT_LEADER(leader_id=-1)) == encoded()
    assert len(encoded(current_leader=produce.CURRENT_LEADER(leader_id=0))) == len(encoded()) + 11


def test_unknown_tagged_fields_are_skipped():
    with_tag_9 = view("0261 0262 01 09 03 aabbcc")
    row = api_versions.REQUEST.decode(3, with_tag_9)
    assert (row.client_software_name, row.client_software_version) == ("a", "b")
    beside_known = view("0000 01 00000000 02 01 08 0000000000000004 ff01 02 aabb")
    assert api_versions.RESPONSE.decode(3, beside_known).finalized_features_epoch == 4


@pytest.mark.parametrize(
    ("why", "body"),
    [
        ("its size runs past the end", "0000 01 00000000 01 09 05 aa"),
        ("a known one is longer than it says", "0000 01 00000000 01 01 07 0000000000000004"),
        ("a known one is shorter than it says", "0000 01 00000000 01 03 02 01 00"),
        ("its number is a varint of six bytes", "0000 01 00000000 01 ffffffffff7f 00"),
        ("its number is wider than 32 bits", "0000 01 00000000 01 ffffffff1f 00"),
        ("there are fewer than announced", "0000 01 00000000 02 09 00"),
    ],
)
def test_a_tagged_field_is_refused_when(why, body):
    with pytest.raises(DecodeError):
        api_versions.RESPONSE.decode(3, view(body))


@pytest.mark.parametrize(
    ("why", "version", "body", "said"),
    [
        ("bytes are left over", 0, "00000000 00", "left over"),
        ("the input ends inside a number", 0, "0000", "MetadataRequest v0: unpack_from"),
        ("a string runs past the end", 0, "00000001 0005 61", "name is null or runs past the end"),
        ("a string is null", 0, "00000001 ffff", "name is null or runs past the end"),
        ("a string is not UTF-8", 0, "00000001 0001 ff", "utf-8"),
        ("a compact string is null", 9, "02 00 00 01 00 00 00", "name is null"),
        ("an array is longer than the input", 0, "7fffffff 0000", "topics is null or longer"),
        ("a compact array is longer than the input", 9, "ffffffff0f 01 00 00", "topics is null or"),
    ],
)
def test_a_metadata_request_is_refused_when(why, version, body, said):
    with pytest.raises(DecodeError, match=said):
        metadata.REQUEST.decode(version, view(body))


def test_an_impossible_array_length_is_refused_before_anything_is_made():
    body = memoryview(bytes.fromhex("7fffffff") + bytes(200_000))
    metadata.REQUEST.decode(0, view("00000000"))  # compiled now, so that only decoding is measured
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError):
            metadata.REQUEST.decode(0, body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000


def test_long_strings_and_arrays_take_long_varints():
    topics = [metadata.TOPIC(name="x" * n) for n in (126, 127, 128, 300)] * 50
    row = metadata.REQUEST(topics=topics)
    body = metadata.REQUEST.encode_bytes(9, row)
    assert body.startswith(bytes.fromhex("c901 7f 78"))  # 200 + 1 topics, then 126 + 1 letters
    assert metadata.REQUEST.decode(9, memoryview(body)) == row


LIMITED = Message(
    "Limited",
    Field("name", STRING),
    Field("nick", STRING, nullable=True),
    Field("data", BYTES),
    Array("others", STRING),
    Field("tagged", STRING, tag=0),
    flexible_since=1,
)


@pytest.mark.parametrize("where", ["name", "nick", "others", "tagged"])
def test_a_compact_string_is_not_longer_than_a_classic_one_can_be(where: str):
    def sent(size: int) -> memoryview:
        text = "x" * size
        row = LIMITED(**{where: [text] if where == "others" else text})
        return memoryview(LIMITED.encode_bytes(1, row))

    longest = getattr(LIMITED.decode(1, sent(32_767)), where)
    assert len("".join(longest)) == 32_767
    with pytest.raises(DecodeError, match="32768 bytes"):
        LIMITED.decode(1, sent(32_768))


def test_compact_bytes_may_be_longer_than_a_string():
    row = LIMITED(data=bytes(100_000))
    assert LIMITED.decode(1, memoryview(LIMITED.encode_bytes(1, row))) == row


def test_records_are_slices_of_the_input_and_not_copies():
    data = bytes.fromhex("00 0001 00007530 02 0274 02 00000000 03 aabb 00 00 00")
    records = produce.REQUEST.decode(9, memoryview(data)).topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is data


class FileRange:
    """Bytes that are still in a file: all that the codec may ask is how many."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


def fetched(*partitions):
    return fetch.RESPONSE(responses=[fetch.TOPIC_RESPONSE(topic="t", partitions=list(partitions))])


def test_records_pass_through_an_encoder_by_reference():
    head, tail = memoryview(b"abc"), FileRange(70_000)
    row = fetched(
        fetch.PARTITION_RESPONSE(records=[head, tail]), fetch.PARTITION_RESPONSE(records=b"z")
    )
    before, first, second, between, third = fetch.RESPONSE.encode(4, row)
    assert before.endswith((70_003).to_bytes(4, "big"))
    assert first is head
    assert second is tail
    assert between.endswith((1).to_bytes(4, "big"))
    assert third == b"z"


def test_null_and_empty_records_make_no_segment():
    row = fetched(fetch.PARTITION_RESPONSE(records=None), fetch.PARTITION_RESPONSE(records=[]))
    (only,) = fetch.RESPONSE.encode(0, row)
    assert only == view(
        "00000001 0001 74 00000002"
        "00000000 0000 0000000000000000 ffffffff"
        "00000000 0000 0000000000000000 00000000"
    )


ODD = Message(
    "Odd",
    Field("small", UINT16),
    Field("large", UINT32),
    Field("real", FLOAT64),
    Field("blob", BYTES, nullable=True),
    Array("ids", UUID),
    Array("flags", BOOLEAN, nullable=True),
    Field("maybe", Struct("Maybe", Field("level", INT8), Array("names", STRING)), nullable=True),
    Field("always", Struct("Always", Field("n", INT32))),
    Field("records", RECORDS, nullable=True),
    flexible_since=1,
)


@pytest.mark.parametrize("version", [0, 1])
def test_types_that_todays_tables_barely_use_survive_a_round_trip(version):
    maybe = ODD.fields[6].type(level=-3, names=["a", "b" * 200])
    full = ODD(
        small=65535,
        large=2**32 - 1,
        real=-0.5,
        blob=b"\0" * 200,
        ids=[TOPIC_ID, uuid.UUID(int=1)],
        flags=[True, False],
        maybe=maybe,
        always=ODD.fields[7].type(n=-1),
        records=b"r",
    )
    empty = ODD(blob=None, flags=None, maybe=None)
    for row in (full, empty):
        assert ODD.decode(version, memoryview(ODD.encode_bytes(version, row))) == row


def test_a_boolean_is_true_for_any_byte_but_zero():
    assert metadata.REQUEST.decode(4, view("00000000 02")).allow_auto_topic_creation is True
