import pytest

from samsa.records import (
    Codec,
    CorruptBatch,
    InvalidRecord,
    Record,
    build,
    filler,
    read_header,
    records,
)
from samsa.records.batch import seal
from samsa.records.header import HEADER_SIZE, LOG_APPEND_TIME
from samsa.records.spans import at_once
from samsa.records.times import first_at_or_after
from samsa.records.varint import varint

VALUES = [
    Record(0, 1000, None, b""),
    Record(1, 900, b"", None, (("a", b"1"), ("é", None), ("a", b""))),
    Record(2, 1100, b"k" * 300, b"v" * 70_000),
]
BATCH = build(VALUES)


def holding(payload: bytes, count: int = 1, **changes: int) -> bytes:
    header = read_header(BATCH)._replace(count=count, last_offset_delta=2)
    return seal(header._replace(**changes), payload)


def one(body: bytes) -> bytes:
    return holding(varint(len(body)) + body)


@pytest.mark.parametrize("codec", Codec)
def test_records_come_back_as_they_went_in(codec):
    assert list(records(build(VALUES, codec=codec))) == VALUES


def test_records_are_read_at_a_position():
    assert list(records(memoryview(filler(0, 3, 0) + BATCH), position=HEADER_SIZE)) == VALUES


def test_records_read_outlive_the_buffer_they_came_from():
    buffer = bytearray(BATCH)
    found = records(memoryview(buffer))
    buffer[:] = bytes(len(buffer))
    assert list(found) == VALUES


def test_log_append_time_is_the_time_of_every_record():
    batch = build(VALUES, attributes=LOG_APPEND_TIME)
    assert [record.timestamp for record in records(batch)] == [1100, 1100, 1100]


def test_a_compacted_batch_keeps_the_offsets_of_what_is_left():
    kept = [Record(11, 5, b"k", b"v"), Record(14, 6, b"l", b"w")]
    batch = build(kept, base_offset=10, last_offset_delta=9)
    assert list(records(batch)) == kept
    assert read_header(batch).next_offset == 20


@pytest.mark.parametrize(
    ("offsets", "arguments"),
    [
        ([], {}),
        ([0, 0], {}),
        ([1, 0], {}),
        ([4], {"base_offset": 5}),
        ([2**31], {}),
        ([0, 3], {"last_offset_delta": 2}),
    ],
)
def test_a_batch_is_not_built_from_offsets_out_of_place(offsets, arguments):
    with pytest.raises(InvalidRecord):
        build([Record(offset, 0, None, None) for offset in offsets], **arguments)


def test_a_batch_is_not_built_from_times_too_far_apart():
    with pytest.raises(InvalidRecord):
        build([Record(0, -(2**63), None, None), Record(1, 2**63 - 1, None, None)])


@pytest.mark.parametrize("missing", [1, 100, len(BATCH) - HEADER_SIZE, len(BATCH) - 1])
def test_a_cut_batch_is_corrupt_before_anything_is_read_from_it(missing):
    with pytest.raises(CorruptBatch):
        records(BATCH[:-missing])


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_compressed_batch_is_read_up_to_the_limit_and_not_past_it(codec):
    batch = build(VALUES, codec=codec)
    plain = len(BATCH) - HEADER_SIZE
    assert list(records(batch, limit=plain)) == VALUES
    with pytest.raises(CorruptBatch):
        list(records(batch, limit=plain - 1))


EMPTY = b"\x00\x00\x00\x01\x01"  # attributes, no deltas, no key, no value

CONTRADICTIONS = {
    "no record": holding(b""),
    "a length and no record": holding(varint(7)),
    "a length past the end": holding(varint(2**31) + EMPTY + b"\x00"),
    "a negative length": holding(varint(-1) + EMPTY + b"\x00"),
    "an integer without end": holding(b"\xff" * 11),
    "bytes after the last field": one(EMPTY + b"\x00\x00"),
    "a key longer than the record": one(b"\x00\x00\x00" + varint(90) + b"key"),
    "a negative number of headers": one(EMPTY + varint(-1)),
    "more headers than bytes": one(EMPTY + varint(2**31 - 1)),
    "a header without a name": one(EMPTY + varint(1) + varint(-1) + varint(-1)),
    "an offset above the batch": one(b"\x00\x00" + varint(3) + b"\x01\x01\x00"),
    "an offset below the batch": one(b"\x00\x00" + varint(-1) + b"\x01\x01\x00"),
    "a time past all times": one(b"\x00" + varint(2**63 - 1) + b"\x00\x01\x01\x00"),
    "one record too many": holding(BATCH[HEADER_SIZE:], count=2),
    "one record too few": holding(BATCH[HEADER_SIZE:], count=4),
    "a negative count of nothing": holding(b"", count=-1),
    "a negative count": holding(BATCH[HEADER_SIZE:], count=-1),
    "fewer offsets than records": holding(BATCH[HEADER_SIZE:], count=3, last_offset_delta=1),
    "negative offsets": holding(BATCH[HEADER_SIZE:], count=3, last_offset_delta=-2),
    "offsets past all offsets": holding(BATCH[HEADER_SIZE:], count=3, base_offset=2**63 - 2),
}


@pytest.mark.parametrize("batch", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_batch_that_contradicts_itself_is_corrupt(batch):
    with pytest.raises(CorruptBatch):
        list(records(batch))


def test_a_header_name_that_is_no_text_is_read_as_java_reads_it():
    batch = one(EMPTY + varint(1) + varint(3) + b"a\xffb" + varint(-1))
    assert [record.headers for record in records(batch)] == [(("a\ufffdb", None),)]


def test_a_record_that_runs_past_the_end_is_not_handed_out_cut():
    body = EMPTY + varint(1) + varint(1) + b"n" + varint(99) + b"cut"
    found = records(holding(varint(len(body) + 96) + body))
    with pytest.raises(CorruptBatch):
        next(found)


def test_two_records_cannot_have_one_offset():
    record = varint(6) + b"\x00\x00\x00\x01\x01\x00"
    with pytest.raises(CorruptBatch):
        list(records(holding(record * 2, count=2)))


def test_any_negative_length_is_null_as_in_kafka():
    found = list(records(one(b"\x00\x00\x00" + varint(-5) + varint(-2) + b"\x00")))
    assert found == [Record(0, 1000, None, None)]


@pytest.mark.parametrize(
    ("timestamp", "found"),
    [
        (0, (0, 1000)),
        (1000, (0, 1000)),
        (1001, (2, 1100)),
        (1100, (2, 1100)),
        (1101, (10, 1150)),
        (1160, (12, 2000)),
        (2001, None),
    ],
)
def test_the_first_record_at_or_after_a_time_is_found(timestamp, found):
    later = [Record(10, 1150, None, b"x"), Record(11, 1100, None, b"y")]
    log = (
        BATCH
        + filler(3, 7, 5000)
        + build(later, base_offset=10, codec=Codec.ZSTD)
        + build([Record(12, 2000, None, b"z")], base_offset=12)
    )
    assert at_once(first_at_or_after(log, timestamp)) == found


def test_a_batch_that_is_too_old_is_not_even_unpacked():
    garbage = holding(b"garbage", max_timestamp=50)
    assert at_once(first_at_or_after(garbage + BATCH, 51)) == (0, 1000)


def test_of_a_batch_that_cannot_be_read_the_header_says_when_it_is_from():
    garbage = holding(b"garbage", max_timestamp=50)
    assert at_once(first_at_or_after(garbage + BATCH, 50)) == (0, 50)


def test_a_time_is_looked_up_from_an_offset_on():
    assert at_once(first_at_or_after(BATCH, 0, start_offset=1)) == (1, 900)
    assert at_once(first_at_or_after(BATCH, 1000, start_offset=1)) == (2, 1100)
    assert at_once(first_at_or_after(BATCH, 0, start_offset=3)) is None
