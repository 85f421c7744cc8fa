import struct

import pytest

from samsa.records import Codec, CorruptBatch, Record, UnsupportedCodec, build, headers, read_header
from samsa.records.header import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL

ONE = build([Record(0, 1000, b"key", b"value")])
THREE = build([Record(offset, 1000 + offset, None, b"v") for offset in range(3)])


def test_a_header_says_what_the_batch_was_built_with():
    batch = build(
        [Record(40, 1000, None, b"a"), Record(42, 900, None, b"b")],
        base_offset=40,
        codec=Codec.GZIP,
        producer_id=7,
        producer_epoch=3,
        base_sequence=11,
        leader_epoch=5,
    )
    header = read_header(batch)
    assert (header.base_offset, header.last_offset_delta, header.count) == (40, 2, 2)
    assert (header.offsets, header.next_offset) == (3, 43)
    assert (header.base_timestamp, header.max_timestamp) == (1000, 1000)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, 11)
    assert (header.leader_epoch, header.magic, header.codec) == (5, 2, Codec.GZIP)
    assert header.size == len(batch)


@pytest.mark.parametrize(
    ("bit", "name"),
    [
        (CONTROL, "is_control"),
        (TRANSACTIONAL, "is_transactional"),
        (LOG_APPEND_TIME, "log_append_time"),
    ],
)
def test_each_attribute_bit_means_one_thing(bit, name):
    names = {"is_control", "is_transactional", "log_append_time"}
    header = read_header(build([Record(0, 0, None, None)], attributes=bit))
    assert {name for name in names if getattr(header, name)} == {name}


@pytest.mark.parametrize(
    ("base", "delta", "last"),
    [
        (-1, 2, -1),
        (0, 0, 0),
        (5, 2, 7),
        (2**31 - 1, 0, 2**31 - 1),
        (2**31 - 1, 1, 0),
        (2**31 - 2, 4, 2),
    ],
)
def test_sequences_start_again_at_zero_after_the_largest_integer(base, delta, last):
    header = read_header(ONE)._replace(base_sequence=base, last_offset_delta=delta)
    assert header.last_sequence == last


def test_an_unknown_codec_is_named_when_it_is_asked_for():
    header = read_header(ONE)._replace(attributes=5)
    with pytest.raises(UnsupportedCodec, match="5"):
        _ = header.codec


def test_a_header_can_be_read_before_the_rest_of_its_batch_arrived():
    assert read_header(ONE[:61]).size == len(ONE)


@pytest.mark.parametrize("length", range(61))
def test_a_cut_header_is_corrupt(length):
    with pytest.raises(CorruptBatch):
        read_header(ONE[:length])


@pytest.mark.parametrize("magic", [0, 1, 3, 127, -1])
def test_another_magic_is_corrupt(magic):
    batch = bytearray(ONE)
    struct.pack_into(">b", batch, 16, magic)
    with pytest.raises(CorruptBatch, match="magic"):
        read_header(batch)


@pytest.mark.parametrize("length", [48, 0, -1, -(2**31)])
def test_a_length_below_the_header_is_corrupt(length):
    batch = bytearray(ONE)
    struct.pack_into(">i", batch, 8, length)
    with pytest.raises(CorruptBatch, match="long"):
        read_header(batch)


def test_every_batch_of_an_object_is_listed_with_its_position():
    found = headers(ONE + THREE + ONE)
    assert [position for position, _ in found] == [0, len(ONE), len(ONE) + len(THREE)]
    assert [header.count for _, header in found] == [1, 3, 1]


def test_an_object_without_bytes_has_no_batches():
    assert headers(b"") == []


@pytest.mark.parametrize("missing", [1, 10, len(THREE) - 61, len(THREE) - 1])
def test_a_partial_tail_is_corrupt(missing):
    with pytest.raises(CorruptBatch):
        headers((ONE + THREE)[:-missing])
