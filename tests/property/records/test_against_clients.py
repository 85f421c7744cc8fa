"""Two clients' own record code writes what we read, and reads what we write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.records.oracles import ORACLES, Oracle
from property.records.strategies import PLAIN_RECORDS, RECORDS, examples
from unit.records.old import from_batches, to_batch

from samsa.records import Codec, Record, build, filler, records, validate
from samsa.records.legacy import is_legacy

LEGACY = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)

v2 = pytest.mark.parametrize(
    ("oracle", "codec"),
    [(oracle, codec) for oracle in ORACLES for codec in sorted(oracle.codecs)],
    ids=lambda value: getattr(value, "name", None),
)
old = pytest.mark.parametrize(
    ("oracle", "codec", "magic"),
    [
        (oracle, codec, magic)
        for oracle in ORACLES
        for codec in sorted(oracle.codecs.intersection(LEGACY))
        for magic in (0, 1)
        if (codec, magic) != (Codec.LZ4, 0)  # neither client writes the wrong checksum
    ],
    ids=lambda value: getattr(value, "name", None),
)
some = examples(20)


def in_magic(magic: int, found: list[Record]) -> list[Record]:
    return [r._replace(headers=(), timestamp=r.timestamp if magic else -1) for r in found]


@v2
@some
@given(found=RECORDS)
def test_a_batch_of_a_client_is_valid_and_read_by_us(oracle: Oracle, codec: Codec, found):
    batch = oracle.write_batch(found, codec)
    header = validate(batch)
    assert (header.producer_id, header.producer_epoch) == (5, 1)
    assert header.last_sequence == len(found) - 1
    assert list(records(batch)) == found


@v2
@some
@given(found=RECORDS)
def test_a_batch_of_ours_is_valid_and_read_by_a_client(oracle: Oracle, codec: Codec, found):
    assert oracle.read(build(found, codec=codec)) == found


@v2
@some
@given(found=PLAIN_RECORDS, magic=st.sampled_from([0, 1]))
def test_a_batch_of_a_client_is_down_converted_for_the_client(oracle, codec, found, magic):
    message_set = from_batches(oracle.write_batch(found, codec), magic, 0)
    assert oracle.read(message_set) == in_magic(magic, found)


@old
@some
@given(found=PLAIN_RECORDS)
def test_a_message_set_of_a_client_is_up_converted(oracle: Oracle, codec: Codec, magic: int, found):
    message_set = oracle.write_messages(found, magic, codec)
    assert is_legacy(message_set)
    assert list(records(to_batch(message_set))) == in_magic(magic, found)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
@some
@given(found=PLAIN_RECORDS, magic=st.sampled_from([0, 1]), data=st.data())
def test_a_client_reads_the_whole_messages_of_a_cut_set(oracle: Oracle, found, magic, data):
    whole = from_batches(build(found), magic, 0)
    cut = from_batches(build(found), magic, 0, data.draw(st.integers(0, len(whole))))
    read = oracle.read(cut)
    assert read == in_magic(magic, found)[: len(read)]
    assert len(from_batches(build(found[: len(read) + 1]), magic, 0)) > len(cut) or cut == whole


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_a_client_steps_over_a_filler(oracle: Oracle):
    last = [Record(9, 5, b"k", b"v")]
    assert oracle.read(filler(2, 7, 1000) + build(last, base_offset=9)) == last
