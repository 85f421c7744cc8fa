from hypothesis import given
from hypothesis import strategies as st
from property.records.strategies import (
    BLOBS,
    CODECS,
    HEADERS,
    PLAIN_RECORDS,
    RECORDS,
    TIMES,
    examples,
)
from unit.records.old import from_batches, to_batch

from samsa.records import Record, assign, build, headers, records, validate
from samsa.records.compression import compress, decompress
from samsa.records.spans import at_once
from samsa.records.times import first_at_or_after
from samsa.records.varint import read_varint, varint

LONGS = st.integers(-(2**63), 2**63 - 1)


@examples(100)
@given(LONGS, st.binary(max_size=4))
def test_an_integer_of_any_length_comes_back_with_the_position_behind_it(value, before):
    encoded = varint(value)
    end = len(before) + len(encoded)
    assert read_varint(before + encoded + b"\x80", len(before)) == (value, end)


@examples(100)
@given(st.binary(max_size=5000), CODECS)
def test_data_comes_back_from_every_codec(data, codec):
    assert decompress(codec, compress(codec, data), len(data)) == data


@examples(100)
@given(RECORDS, CODECS, st.integers(0, 2**62), st.integers(0, 2**31 - 1))
def test_records_come_back_from_every_codec_at_every_offset(found, codec, base, epoch):
    buffer = bytearray(build(found, codec=codec))
    assign(memoryview(buffer), 0, base, epoch)
    header = validate(buffer)
    assert (header.base_offset, header.leader_epoch, header.codec) == (base, epoch, codec)
    assert list(records(buffer)) == [r._replace(offset=r.offset + base) for r in found]


@examples(60)
@given(
    st.dictionaries(
        st.integers(0, 500), st.tuples(TIMES, BLOBS, BLOBS, HEADERS), min_size=1, max_size=5
    )
)
def test_records_with_holes_between_their_offsets_come_back(rows):
    found = [Record(offset, *row) for offset, row in sorted(rows.items())]
    batch = build(found, last_offset_delta=1000)
    assert list(records(batch)) == found


@examples(60)
@given(st.lists(RECORDS, max_size=4))
def test_batches_laid_end_to_end_are_found_again(lists):
    batches = [build(found) for found in lists]
    found = headers(b"".join(batches))
    assert [header.size for _, header in found] == [len(batch) for batch in batches]
    assert [header.count for _, header in found] == [len(some) for some in lists]


@examples(60)
@given(st.lists(RECORDS, min_size=1, max_size=3), TIMES)
def test_a_time_look_up_agrees_with_reading_everything(lists, timestamp):
    log = bytearray()
    everything: list[Record] = []
    for some in lists:
        placed = [r._replace(offset=r.offset + len(everything)) for r in some]
        log += build(placed, base_offset=len(everything))
        everything += placed
    expected = next(((r.offset, r.timestamp) for r in everything if r.timestamp >= timestamp), None)
    assert at_once(first_at_or_after(log, timestamp)) == expected


@examples(60)
@given(PLAIN_RECORDS, CODECS, st.sampled_from([0, 1]), st.integers(0, 6))
def test_a_batch_down_converted_and_up_again_is_the_same_from_its_start(found, codec, magic, start):
    message_set = from_batches(build(found, codec=codec), magic, start)
    kept = [r if magic else r._replace(timestamp=-1) for r in found[start:]]
    back = list(records(to_batch(message_set))) if message_set else []
    assert [r._replace(offset=r.offset + start) for r in back] == kept
