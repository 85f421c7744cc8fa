"""Whatever comes in, a value or a RecordError comes out."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
from property.records.entries import ENTRIES, LIMIT, run
from property.records.strategies import (
    BATCHES,
    LEGACY_CODECS,
    PLAIN_RECORDS,
    RECORDS,
    examples,
    mutated,
)
from unit.records.old import framed, from_batches

from samsa.records import Codec, build, read_header
from samsa.records.batch import seal
from samsa.records.compression import compress
from samsa.records.header import HEADER_SIZE

entries = st.sampled_from(list(ENTRIES))
often = examples(200)


@st.composite
def resealed_batches(draw: st.DrawFn) -> bytes:
    """Nonsense behind a right checksum: payload damaged, then compressed and sealed."""
    header = read_header(build(draw(RECORDS)))
    payload = draw(mutated(st.builds(build, RECORDS)))[HEADER_SIZE:]
    codec = draw(st.sampled_from(list(Codec)))
    return seal(header._replace(attributes=codec), compress(codec, payload))


@st.composite
def message_sets(draw: st.DrawFn) -> bytes:
    """Damaged messages with right checksums, some of them wrapped."""
    inner = from_batches(build(draw(PLAIN_RECORDS)), draw(st.sampled_from([0, 1])), 0)
    damaged = framed(draw(mutated(st.just(inner[16:]))))
    codec = draw(LEGACY_CODECS)
    magic = draw(st.sampled_from([b"\x00", b"\x01" + bytes(8)]))
    value = compress(codec, draw(st.sampled_from([inner, damaged, inner + damaged])))
    words = magic[:1] + bytes((codec,)) + magic[1:]
    wrapper = framed(words + b"\xff\xff\xff\xff" + len(value).to_bytes(4, "big") + value)
    return draw(st.sampled_from([damaged, inner + damaged, wrapper, wrapper + damaged]))


@often
@given(entries, st.binary(max_size=300))
def test_random_bytes_give_a_value_or_a_record_error(entry, data):
    run(entry, data)


@often
@given(entries, mutated(BATCHES))
def test_damaged_batches_give_a_value_or_a_record_error(entry, data):
    run(entry, data)


@often
@given(entries, resealed_batches())
def test_nonsense_under_a_right_checksum_gives_a_value_or_a_record_error(entry, data):
    run(entry, data)


@often
@given(message_sets())
def test_damaged_message_sets_give_a_value_or_a_record_error(data):
    run("to_batch", data)


@often
@given(mutated(st.builds(compress, st.sampled_from(list(Codec)), st.binary(max_size=500))))
def test_damaged_compression_gives_a_value_or_a_record_error(data):
    for codec in Codec:
        run(f"decompress {codec.name}", data)


@examples(60)
@given(entries, resealed_batches() | mutated(BATCHES))
def test_no_input_makes_the_heap_grow_far_past_the_limit(entry, data):
    tracemalloc.start()
    try:
        run(entry, data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * LIMIT
