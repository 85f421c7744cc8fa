import struct

import pytest

from samsa.records import (
    Codec,
    CorruptBatch,
    InvalidRecord,
    Record,
    RecordError,
    UnsupportedCodec,
    assign,
    build,
    filler,
    headers,
    is_filler,
    read_header,
    records,
    validate,
)
from samsa.records.batch import seal, shift_offsets, stamp
from samsa.records.header import CONTROL, HEADER_SIZE

VALUES = [Record(offset, 1000 + offset, b"k", b"v" * 20) for offset in range(3)]
BATCH = build(VALUES)


def resealed(**changes: int) -> bytes:
    """The batch with other words in its header, and the checksum right."""
    return seal(read_header(BATCH)._replace(**changes), BATCH[HEADER_SIZE:])


@pytest.mark.parametrize("codec", Codec)
def test_what_a_producer_builds_is_valid(codec):
    batch = build(VALUES, codec=codec, producer_id=1, producer_epoch=0, base_sequence=0)
    assert validate(batch) == read_header(batch)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_is_validated_where_it_lies(kind):
    assert validate(kind(BATCH)).count == 3


def test_a_changed_bit_anywhere_under_the_checksum_is_corrupt():
    for position in range(21, len(BATCH)):
        changed = bytearray(BATCH)
        changed[position] ^= 0x10
        with pytest.raises(CorruptBatch):
            validate(changed)


def test_a_batch_comes_alone():
    with pytest.raises(InvalidRecord):
        validate(BATCH + BATCH)


@pytest.mark.parametrize("data", [b"", BATCH[:-1], BATCH[:60], BATCH + BATCH[:-1], BATCH + b"x"])
def test_what_is_cut_is_corrupt(data):
    with pytest.raises(CorruptBatch):
        validate(data)


@pytest.mark.parametrize(
    "changes",
    [
        {"count": 2},
        {"count": 4},
        {"count": 0},
        {"count": -1, "last_offset_delta": -2},
        {"count": 0, "last_offset_delta": -1},
        {"last_offset_delta": 3},
        {"last_offset_delta": -1},
        {"count": 1_000_000, "last_offset_delta": 999_999},
        {"attributes": CONTROL},
        {"producer_id": 9, "producer_epoch": 0, "base_sequence": -1},
    ],
    ids=str,
)
def test_a_producer_may_not_say(changes):
    with pytest.raises(InvalidRecord):
        validate(resealed(**changes))


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_does_not_exist_is_unsupported(codec):
    with pytest.raises(UnsupportedCodec):
        validate(resealed(attributes=codec))


def test_every_failure_is_a_record_error():
    assert issubclass(CorruptBatch, RecordError)
    assert issubclass(InvalidRecord, RecordError)
    assert issubclass(UnsupportedCodec, RecordError)


def test_a_batch_takes_its_place_without_breaking_its_checksum():
    buffer = bytearray(BATCH + BATCH)
    assign(memoryview(buffer), len(BATCH), 2**40, leader_epoch=9)
    (_, first), (_, second) = headers(buffer)
    validate(buffer[len(BATCH) :])
    assert (first.base_offset, first.leader_epoch) == (0, 0)
    assert (second.base_offset, second.leader_epoch) == (2**40, 9)
    assert buffer[: len(BATCH)] == BATCH


def test_a_filler_takes_offsets_and_holds_nothing():
    header = read_header(filler(base_offset=50, count=7, timestamp=1234))
    assert (header.base_offset, header.next_offset, header.count) == (50, 57, 0)
    assert (header.base_timestamp, header.max_timestamp) == (1234, 1234)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert header.is_empty
    assert list(records(filler(50, 7, 1234))) == []


def test_a_filler_has_the_checksum_of_its_bytes():
    batch = filler(50, 7, 1234)
    assert seal(read_header(batch)) == batch


def test_only_an_empty_batch_without_a_producer_is_a_filler():
    empty = read_header(filler(0, 3, 0))
    assert is_filler(empty)
    assert not is_filler(read_header(BATCH))
    assert not is_filler(empty._replace(producer_id=4))
    assert not is_filler(empty._replace(attributes=CONTROL))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("by", [1, 2**40, -7])
def test_batches_are_shifted_in_a_copy_and_keep_all_but_their_offsets(kind, by):
    second = [Record(offset, 1000, b"k", b"w") for offset in (13, 14)]
    stored = bytearray(BATCH + build(second, base_offset=13) + filler(15, 4, 0))
    assign(memoryview(stored), 0, 10, leader_epoch=3)
    before = bytes(stored)
    given = kind(stored)
    shifted = shift_offsets(given, by)
    assert given == before
    assert [h.base_offset for _, h in headers(shifted)] == [10 + by, 13 + by, 15 + by]
    for position, header in headers(shifted):
        assert header == read_header(before, position).at(header.base_offset)
        same = slice(position + 8, position + header.size)
        assert shifted[same] == before[same]
    found = [record for position, _ in headers(shifted) for record in records(shifted, position)]
    assert [record.offset - by for record in found] == [10, 11, 12, 13, 14]
    assert [record.value for record in found] == [b"v" * 20] * 3 + [b"w"] * 2


@pytest.mark.parametrize("data", [BATCH[:-1], BATCH + BATCH[:30]])
def test_what_is_not_whole_batches_cannot_be_shifted(data):
    with pytest.raises(CorruptBatch):
        shift_offsets(data, 1)


def test_the_checksum_is_the_one_of_the_specification():
    (crc,) = struct.unpack_from(">I", seal(read_header(BATCH), b"")[17:21])
    assert crc == castagnoli(seal(read_header(BATCH), b"")[21:])


def castagnoli(data: bytes) -> int:
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


@pytest.mark.parametrize("codec", Codec)
def test_a_stamped_batch_is_valid_and_all_its_records_have_the_brokers_time(codec):
    batch = bytearray(build(VALUES, codec=codec))
    buffer = bytearray(b"before") + batch + b"after"
    header = stamp(memoryview(buffer), len(b"before"), 77_777)
    stamped = bytes(buffer[len(b"before") : -len(b"after")])
    assert validate(stamped) == header
    assert (header.log_append_time, header.max_timestamp) == (True, 77_777)
    assert [record.timestamp for record in records(stamped)] == [77_777] * 3
    assert [record.value for record in records(stamped)] == [record.value for record in VALUES]
    assert (buffer[:6], buffer[-5:]) == (b"before", b"after")
