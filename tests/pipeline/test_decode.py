"""Batches to columns: the compiled decoder, the plain one, and the records that went in."""

import gc
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline.given import LOG_APPEND_TIME, a_batch

from pyspark_samsa.columns import HEADERS, SPARK_TYPES, arrow_schema
from pyspark_samsa.decode import WORTH_IT, Decode, DecoderChoice, compiled, plain
from samsa.records import Codec, CorruptBatch, Record, build, filler, headers
from samsa.records.header import CONTROL

EVERY = tuple(SPARK_TYPES)
DECODERS = {"compiled": compiled.decode, "plain": plain.decode}
LAST = 2**63 - 1
blobs = st.none() | st.binary(max_size=40)
times = st.integers(0, 2**41) | st.sampled_from([-1, 2**62])
header_lists = st.lists(st.tuples(st.text(max_size=5), blobs), max_size=3).map(tuple)


@st.composite
def batches(draw: st.DrawFn, base: int) -> tuple[bytes, list[Record]]:
    """With gaps between the offsets, as compaction leaves them."""
    gaps = draw(st.lists(st.integers(1, 3), min_size=1, max_size=8))
    offset, found = base - 1, []
    for gap in gaps:
        offset += gap
        found.append(Record(offset, draw(times), draw(blobs), draw(blobs), draw(header_lists)))
    by_log = draw(st.booleans())
    data = build(
        found,
        base_offset=base,
        codec=draw(st.sampled_from(Codec)),
        attributes=LOG_APPEND_TIME if by_log else 0,
    )
    if by_log:
        newest = max(record.timestamp for record in found)
        found = [record._replace(timestamp=newest) for record in found]
    return data, found


@st.composite
def ranges(draw: st.DrawFn) -> tuple[bytes, list[Record]]:
    data, found = b"", []
    for number in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            data += filler(number * 100, 100, -1)
        else:
            more, batch = draw(batches(number * 100))
            data, found = data + more, found + batch
    return data, found


def rows(decode: Decode, data: bytes, first: int = 0, end: int = LAST) -> pa.Table:
    schema = arrow_schema(EVERY)
    made = [found.batch("t", 3, schema) for found in decode(data, first, end, EVERY)]
    for batch in made:
        batch.validate(full=True)
    return pa.Table.from_batches(made, schema)


def expected(records: Sequence[Record], first: int, end: int) -> list[Record]:
    return [record for record in records if first <= record.offset < end]


@settings(max_examples=150)
@given(ranges(), st.integers(0, 400), st.integers(0, 400))
def test_both_decoders_give_the_records_that_went_in(
    written: tuple[bytes, list[Record]], first: int, end: int
):
    data, records = written
    fast, slow = (rows(decode, data, first, end) for decode in DECODERS.values())
    assert fast.equals(slow)
    assert fast["offset"].to_pylist() == [r.offset for r in expected(records, first, end)]
    assert fast["key"].to_pylist() == [r.key for r in expected(records, first, end)]
    assert fast["value"].to_pylist() == [r.value for r in expected(records, first, end)]
    assert fast["headers"].to_pylist() == [
        [{"key": name, "value": value} for name, value in r.headers] or None
        for r in expected(records, first, end)
    ]
    latest = (2**63 - 1) // 1000
    assert fast["timestamp"].cast(pa.int64()).to_pylist() == [
        min(r.timestamp, latest) * 1000 for r in expected(records, first, end)
    ]


@settings(max_examples=300)
@given(ranges(), st.data())
def test_both_decoders_refuse_the_same_bytes(
    written: tuple[bytes, list[Record]], data: st.DataObject
):
    """A flipped bit anywhere behind a header: the same rows of both, or an error of both."""
    damaged = bytearray(written[0])
    bodies = [
        at
        for position, header in headers(damaged)
        for at in range(position + 61, position + header.size)
    ]
    if not bodies:
        return
    damaged[data.draw(st.sampled_from(bodies))] ^= 1 << data.draw(st.integers(0, 7))
    outcomes = []
    for decode in DECODERS.values():
        try:
            outcomes.append(rows(decode, bytes(damaged)))
        except CorruptBatch:
            outcomes.append(None)
    fast, slow = outcomes
    assert (fast is None) == (slow is None)
    assert fast is None or fast.equals(slow)


@pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)
class TestEither:
    def test_a_header_whose_name_is_no_text_is_read_as_java_reads_it(self, decode: Decode):
        data = build([Record(0, 5, None, b"x", (("name", b"v"),))])
        found = rows(decode, data.replace(b"name", b"n\xffme"))["headers"].to_pylist()
        assert found == [[{"key": "n\N{REPLACEMENT CHARACTER}me", "value": b"v"}]]

    def test_the_type_of_a_timestamp_is_the_batch_s(self, decode: Decode):
        data = a_batch(b"x", at=5) + build(
            [Record(1, 7, None, b"y")], base_offset=1, attributes=LOG_APPEND_TIME
        )
        assert rows(decode, data)["timestampType"].to_pylist() == [0, 1]

    def test_control_batches_hold_no_rows(self, decode: Decode):
        data = build([Record(0, 1, b"\0\0\0\1", b"")], attributes=CONTROL)
        assert rows(decode, data + build([Record(1, 1, None, b"x")], base_offset=1))[
            "value"
        ].to_pylist() == [b"x"]

    def test_columns_that_nobody_wants_are_not_made(self, decode: Decode):
        (found,) = decode(a_batch(b"x"), 0, LAST, ("key",))
        assert "value" not in found.columns
        assert HEADERS not in found.columns
        assert found.batch("t", 0, arrow_schema(("topic", "key"))).to_pylist() == [
            {"topic": "t", "key": b"k0"}
        ]

    def test_a_count_that_cannot_be_is_refused_before_memory_is_taken(self, decode: Decode):
        data = bytearray(a_batch(b"x"))
        data[57:61] = (2**31 - 1).to_bytes(4)
        data[23:27] = (2**31 - 2).to_bytes(4)
        with pytest.raises(CorruptBatch, match="do not fit"):
            rows(decode, bytes(data))

    def test_an_offset_that_comes_twice_is_refused(self, decode: Decode):
        data = bytearray(a_batch(b"x", b"y"))
        second = 61 + 1 + data[61] // 2  # a record begins with its length, as a zigzag integer
        assert data[second + 3] == 2, "which is an offset delta of 1"
        data[second + 3] = 0
        with pytest.raises(CorruptBatch, match="place"):
            rows(decode, bytes(data))

    @pytest.mark.parametrize(("base", "delta"), [(2**63 - 3, 4), (3 - 2**63, -4)])
    def test_a_time_beyond_64_bits_is_refused(self, decode: Decode, base: int, delta: int):
        times = [1000, 1000 + delta]
        data = bytearray(build([Record(n, time, None, b"x") for n, time in enumerate(times)]))
        assert data[27:35] == times[0].to_bytes(8), "the base of all times"
        data[27:35] = base.to_bytes(8, signed=True)
        with pytest.raises(CorruptBatch, match="64 bits"):
            rows(decode, bytes(data))

    def test_a_batch_that_is_cut_is_refused(self, decode: Decode):
        with pytest.raises(CorruptBatch, match="cut"):
            rows(decode, a_batch(b"x")[:-1])


def test_numba_is_loaded_once_there_was_enough_to_do_for_it():
    choice = DecoderChoice()
    assert choice.decoder(WORTH_IT // 2) is plain.decode
    assert choice.decoder(WORTH_IT // 2) is compiled.decode
    assert choice.decoder(1) is compiled.decode
    assert DecoderChoice().decoder(WORTH_IT) is compiled.decode


def test_what_stays_is_not_looked_at_for_cycles_after_every_task():
    DecoderChoice().decoder(WORTH_IT)
    frozen = gc.get_freeze_count()
    assert frozen > 50_000
    DecoderChoice().decoder(WORTH_IT)
    assert gc.get_freeze_count() <= frozen, "once: what tasks leave behind must go"


def test_a_small_range_that_unpacks_to_much_comes_in_pieces():
    big = bytes(9 * 1024 * 1024)
    data = b"".join(
        build([Record(n, 1, None, big)], base_offset=n, codec=Codec.ZSTD) for n in range(4)
    )
    assert len(data) < 100_000
    made = [found.count for found in compiled.decode(data, 0, LAST, EVERY)]
    assert made == [2, 2]
