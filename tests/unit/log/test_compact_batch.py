"""What stays of one batch."""

from random import Random

import pytest
from unit.log.compacting import (
    HOUR,
    LONGEST,
    NULL,
    TIME,
    a_sieve,
    all_records,
    cleaned,
    keyed,
    newest_in,
    pairs_in,
    timed,
)

from samsa.log.compact_aborted import AbortedIn
from samsa.log.compact_keys import KeyMap
from samsa.ports import Aborted
from samsa.records import Codec, filler, read_header, validate
from samsa.records.batch import assign, seal
from samsa.records.control import commits, marker
from samsa.records.header import LOG_APPEND_TIME, TRANSACTIONAL
from samsa.records.spans import at_once, digest
from samsa.records.varint import varint

NOW = TIME + HOUR
PRODUCER = {"producer_id": 7, "producer_epoch": 2, "base_sequence": 40}


@pytest.mark.parametrize("codec", list(Codec))
def test_the_newest_record_of_every_key_stays(codec):
    batch = keyed(10, (b"a", b"1"), (b"b", b"2"), (b"a", b"3"), codec=codec)
    kept = cleaned(batch, a_sieve(newest_in(batch)))
    assert pairs_in(kept) == [(11, b"b", b"2"), (12, b"a", b"3")]
    assert read_header(kept).codec is codec


def test_what_a_later_batch_replaces_goes():
    old, new = keyed(0, (b"a", b"1"), (b"b", b"2")), keyed(2, (b"b", b"3"))
    assert pairs_in(cleaned(old, a_sieve(newest_in(old, new)))) == [(0, b"a", b"1")]
    # Of the clean part of a log, only what is new is noted.
    assert pairs_in(cleaned(old, a_sieve(newest_in(new)))) == [(0, b"a", b"1")]


@pytest.mark.parametrize("codec", list(Codec))
def test_a_batch_that_loses_nothing_is_not_touched(codec):
    batch = keyed(3, (b"a", b"1"), (b"b", b"2"), codec=codec)
    assert cleaned(batch, a_sieve(newest_in(batch))) is batch


def test_a_batch_that_loses_everything_goes():
    old, new = keyed(0, (b"a", b"1")), keyed(1, (b"a", b"2"))
    assert cleaned(old, a_sieve(newest_in(old, new))) is None


def test_a_record_without_a_key_goes():
    batch = keyed(0, (None, b"1"), (b"a", b"2"), (None, None))
    assert pairs_in(cleaned(batch, a_sieve(newest_in(batch)))) == [(1, b"a", b"2")]


def test_a_batch_keeps_its_offsets_its_producer_and_its_sequence():
    batch = keyed(10, (b"a", b"1"), (b"b", b"2"), (b"b", b"3"), (b"a", b"4"), **PRODUCER)
    newer = newest_in(batch) | {b"a": 99}
    before, after = read_header(batch), read_header(cleaned(batch, a_sieve(newer)))
    same = ("base_offset", "last_offset_delta", *PRODUCER, "leader_epoch", "last_sequence")
    assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]
    assert after.count == 1


def test_what_stays_has_its_time_and_the_batch_its_newest():
    batch = keyed(0, (b"a", b"1"), (b"b", b"2"), (b"c", b"3"))
    kept = cleaned(batch, a_sieve(newest_in(batch) | {b"c": 9}))
    assert [record.timestamp for record in all_records(kept)] == [TIME, TIME + 1]
    assert read_header(kept).max_timestamp == TIME + 1


def test_the_brokers_time_stays_the_time_of_all_records():
    plain = keyed(0, (b"a", b"1"), (b"b", None), (b"c", b"3"))
    header = read_header(plain)._replace(attributes=LOG_APPEND_TIME, max_timestamp=TIME + 500)
    batch = seal(header, plain[61:])
    kept = cleaned(batch, a_sieve(newest_in(batch) | {b"c": 9}))
    assert [record.timestamp for record in all_records(kept)] == [TIME + 500] * 2


def test_the_checksum_is_right():
    batch = keyed(0, (b"a", b"1"), (b"a", None))
    kept = cleaned(batch, a_sieve(newest_in(batch)))
    whole = read_header(kept)
    # A producer may not leave offsets out; but for that it could have sent this.
    valid = validate(seal(whole._replace(last_offset_delta=0), kept[61:]))
    assert valid.count == whole.count == 1
    assert seal(whole, kept[61:]) == kept


def test_what_lies_at_the_end_or_above_stays():
    batch = keyed(5, (b"a", b"1"), (b"a", b"2"))
    assert cleaned(batch, a_sieve({b"a": 9}, end=5)) is batch
    assert cleaned(batch, a_sieve({b"a": 9}, end=8)) is None


def test_the_last_batch_of_a_round_stays_if_all_of_it_would_go():
    """A client that reads to the end of a log waits for something at the end."""
    keyless = keyed(5, (None, b"1"), (None, b"2"))
    assert cleaned(keyless, a_sieve({}, end=7)) is keyless
    assert cleaned(keyless, a_sieve({}, end=8)) is None


def test_a_tombstone_at_the_end_of_a_round_stays_beyond_its_time():
    batch = keyed(5, (b"a", b"1"), (b"b", None))
    first = cleaned(batch, a_sieve({b"a": 5, b"b": 6}, end=9))
    assert cleaned(first, a_sieve({}, end=7, now_ms=NOW + 2 * HOUR)) is first
    later = cleaned(first, a_sieve({}, end=8, now_ms=NOW + 2 * HOUR))
    assert pairs_in(later) == [(5, b"a", b"1")]


# Tombstones


def test_a_tombstone_stays_for_its_time_from_when_it_is_first_cleaned():
    batch = keyed(0, (b"a", b"1"), (b"a", None), (b"b", b"2"))
    first = cleaned(batch, a_sieve(newest_in(batch)))
    assert pairs_in(first) == [(1, b"a", None), (2, b"b", b"2")]
    assert read_header(first).delete_horizon == NOW + HOUR
    assert [record.timestamp for record in all_records(first)] == [TIME + 1, TIME + 2]
    assert read_header(first).max_timestamp == TIME + 2

    assert cleaned(first, a_sieve({}, now_ms=NOW + HOUR - 1)) is first
    last = cleaned(first, a_sieve({}, now_ms=NOW + HOUR))
    assert pairs_in(last) == [(2, b"b", b"2")]


def test_a_tombstone_gets_its_time_even_if_nothing_else_changes():
    batch = keyed(0, (b"a", None))
    kept = cleaned(batch, a_sieve(newest_in(batch)))
    assert read_header(kept).delete_horizon == NOW + HOUR
    assert pairs_in(kept) == [(0, b"a", None)]


def test_a_tombstones_time_does_not_start_again():
    batch = keyed(0, (b"a", None), (b"b", None))
    first = cleaned(batch, a_sieve(newest_in(batch)))
    second = cleaned(first, a_sieve({b"b": 7}, now_ms=NOW + 10))
    assert pairs_in(second) == [(0, b"a", None)]
    assert read_header(second).delete_horizon == NOW + HOUR
    assert [record.timestamp for record in all_records(second)] == [TIME]


def test_a_tombstone_that_was_replaced_goes_at_once():
    batch = keyed(0, (b"a", None), (b"a", b"1"))
    assert pairs_in(cleaned(batch, a_sieve(newest_in(batch)))) == [(1, b"a", b"1")]


def test_an_empty_value_is_no_tombstone():
    batch = keyed(0, (b"a", b""), (b"", b""))
    assert cleaned(batch, a_sieve(newest_in(batch), tombstones_ms=0)) is batch


# Keys


def test_keys_are_told_apart_however_long_they_are():
    keys = [b"", b"k", b"k" * 40, b"k" * 41, b"k" * 42, b"k" * 5_000, b"k" * 5_001]
    batch = keyed(0, *((key, b"old") for key in keys), *((key, b"new") for key in keys))
    kept = pairs_in(cleaned(batch, a_sieve(newest_in(batch))))
    assert kept == [(n + len(keys), key, b"new") for n, key in enumerate(keys)]


def test_a_key_that_looks_like_anothers_digest_is_another():
    long = b"k" * 100
    batch = keyed(0, (long, b"1"), (digest(long), b"2"))
    assert cleaned(batch, a_sieve(newest_in(batch))) is batch


# What is left alone


# Transactions


WROTE = {**PRODUCER, "attributes": TRANSACTIONAL}
ABORTED = AbortedIn([Aborted(marker=20, producer_id=7, first=10, stable=21)], as_of_ms=TIME)


@pytest.mark.parametrize(
    ("batch", "is_held"),
    [
        (keyed(10, (b"a", b"1"), **WROTE), True),
        (keyed(18, (b"a", b"1"), (b"b", b"1"), **WROTE), True),
        (keyed(9, (b"a", b"1"), **WROTE), False),
        (keyed(21, (b"a", b"1"), **WROTE), False),
        (keyed(12, (b"a", b"1"), **{**WROTE, "producer_id": 8}), False),
        (keyed(12, (b"a", b"1"), **PRODUCER), False),
    ],
)
def test_only_what_its_producer_wrote_between_first_batch_and_marker_is_aborted(batch, is_held):
    newest = {b"a": 5, b"b": 5}
    kept = cleaned(batch, a_sieve(newest, aborted=ABORTED))
    assert kept is (None if is_held else batch)
    keys = KeyMap(10**6, 0)
    at_once(keys.add([batch], 100, ABORTED))
    assert (keys.newest == {}) is is_held
    assert keys.end == read_header(batch).next_offset


def test_of_several_aborted_transactions_of_a_producer_each_holds_its_own_batches():
    found = [Aborted(4, 7, 1, 5), Aborted(9, 7, 6, 10), Aborted(12, 8, 2, 13)]
    aborted = AbortedIn(found)
    held = [n for n in range(14) if aborted.holds(read_header(keyed(n, (b"a", b"1"), **WROTE)))]
    assert held == [1, 2, 3, 6, 7, 8]
    assert sorted(aborted.below(12)) == [4, 9]


def test_records_of_a_committed_transaction_are_compacted_and_their_batch_stays_theirs():
    batch = keyed(30, (b"a", b"1"), (b"b", b"2"), codec=Codec.GZIP, **WROTE)
    kept = cleaned(batch, a_sieve({b"a": 99, b"b": 31}, aborted=ABORTED))
    assert pairs_in(kept) == [(31, b"b", b"2")]
    before, after = read_header(batch), read_header(kept)
    for name in ("base_offset", "offsets", "attributes", *PRODUCER):
        assert getattr(after, name) == getattr(before, name), name


def test_an_aborted_batch_that_its_producer_may_be_asked_about_leaves_its_header():
    batch = keyed(10, (b"a", b"1"), (b"b", b"2"), codec=Codec.LZ4, **WROTE)
    kept = cleaned(batch, a_sieve(newest_in(batch), asked_for={10}, aborted=ABORTED))
    before, after = read_header(batch), read_header(kept)
    assert (after.count, after.offsets, after.last_sequence) == (0, 2, before.last_sequence)
    assert after.is_transactional


def test_an_aborted_batch_above_the_end_of_the_round_stays():
    batch = keyed(10, (b"a", b"1"), **WROTE)
    assert cleaned(batch, a_sieve({b"a": 10}, end=10, aborted=ABORTED)) is batch


def ends_at(offset: int, is_commit: bool) -> bytes:
    return seal_at(offset, marker(7, 2, is_commit, TIME))


def seal_at(offset: int, batch: bytes) -> bytes:
    data = bytearray(batch)
    assign(memoryview(data), 0, offset)
    return bytes(data)


def test_a_marker_of_a_committed_transaction_goes_at_once():
    assert cleaned(ends_at(20, is_commit=True), a_sieve({}, aborted=AbortedIn())) is None


def test_a_marker_stays_as_it_is_while_its_transaction_is_listed():
    one = ends_at(20, is_commit=False)
    assert cleaned(one, a_sieve({}, aborted=ABORTED)) is one
    other = ends_at(15, is_commit=False)
    assert cleaned(other, a_sieve({}, aborted=ABORTED)) is not other


def test_a_marker_goes_when_its_transaction_was_not_listed_for_its_time():
    batch = ends_at(20, is_commit=False)
    timed = cleaned(batch, a_sieve({}, aborted=AbortedIn((), TIME + 5), markers_ms=HOUR))
    assert read_header(timed).delete_horizon == TIME + 5 + HOUR
    assert not commits(timed)
    assert is_sealed(timed)
    assert all_records(timed) == all_records(batch)  # its time too
    assert read_header(timed).max_timestamp == TIME
    for as_of_ms, stays in ((TIME + 4 + HOUR, True), (TIME + 5 + HOUR, False)):
        kept = cleaned(timed, a_sieve({}, aborted=AbortedIn((), as_of_ms), now_ms=LONGEST))
        assert kept is (timed if stays else None)


def test_the_time_of_a_marker_does_not_run_while_its_transaction_is_listed_again():
    batch = ends_at(20, is_commit=False)
    timed = cleaned(batch, a_sieve({}, aborted=AbortedIn((), TIME), markers_ms=1))
    listed = AbortedIn([Aborted(20, 7, 10, 21)], as_of_ms=TIME + HOUR)
    assert cleaned(timed, a_sieve({}, aborted=listed)) is timed


def test_a_control_batch_that_cannot_be_read_stays():
    cut = seal(read_header(ends_at(20, is_commit=False)), b"\x02")
    assert cleaned(cut, a_sieve({})) is cut


def is_sealed(batch: bytes) -> bool:
    return seal(read_header(batch), batch[61:]) == batch


def garbled() -> dict[str, bytes]:
    good = keyed(0, (b"a", b"1"), (b"b", b"2"))
    header, data = read_header(good), good[61:]
    return {
        "cut": seal(header, data[:-3]),
        "longer": seal(header, data + b"\0"),
        "more records": seal(header._replace(count=9, last_offset_delta=8), data),
        "an offset twice": seal(header, data[: len(data) // 2] * 2),
        "an offset too high": seal(header._replace(last_offset_delta=0), data),
        "not what it was packed with": seal(header._replace(attributes=Codec.ZSTD), data),
        "no codec": seal(header._replace(attributes=7), data),
        "a key that leaves its record": seal(header._replace(count=1), b"\x0c\0\0\0\x7e12"),
    }


@pytest.mark.parametrize("name", garbled())
def test_a_batch_that_cannot_be_read_replaces_nothing(name):
    assert newest_in(garbled()[name]) == {}


@pytest.mark.parametrize(
    "name", ["cut", "longer", "more records", "not what it was packed with", "no codec"]
)
def test_a_batch_that_cannot_be_read_stays(name):
    batch = garbled()[name]
    assert cleaned(batch, a_sieve({b"a": 99, b"b": 99})) is batch


@pytest.mark.parametrize(
    ("base", "delta"),
    [(LONGEST, 1), (LONGEST, LONGEST), (1, LONGEST), (-(2**63), -1), (-(2**63), 0)],
)
def test_a_batch_whose_times_do_not_fit_stays_as_it_is(base, delta):
    batch = timed(base, delta, delta)
    assert newest_in(batch) == {b"0": 0, b"1": 1}
    assert cleaned(batch, a_sieve(newest_in(batch) | {b"0": 9})) is batch
    assert cleaned(batch, a_sieve(newest_in(batch))) is batch


@pytest.mark.parametrize("base", [LONGEST, 0, -1])
def test_a_time_that_just_fits_is_kept(base):
    batch = timed(base, 0, LONGEST - max(base, 0))
    kept = cleaned(batch, a_sieve(newest_in(batch) | {b"0": 9}))
    assert [record.timestamp for record in all_records(kept)] == [LONGEST + min(base, 0)]


def test_tombstones_that_are_kept_for_ever_have_the_last_time_there_is():
    batch = keyed(0, (b"a", None))
    kept = cleaned(batch, a_sieve(newest_in(batch), tombstones_ms=LONGEST))
    assert read_header(kept).delete_horizon == LONGEST
    assert [record.timestamp for record in all_records(kept)] == [TIME]


@pytest.mark.parametrize("time", [b"\xff" * 11 + b"\0", b"\xff" * 40 + b"\0"])
def test_a_time_that_does_not_end_leaves_its_batch_as_it_is(time):
    body = b"".join((b"\0", time, varint(0), varint(1), b"a", NULL, varint(0)))
    batch = seal(read_header(keyed(0, (b"a", b"1"))), varint(len(body)) + body)
    assert cleaned(batch, a_sieve(newest_in(batch))) is batch


def test_noise_under_a_right_checksum_is_never_more_than_a_record_error():
    rng = Random(19)
    for _ in range(3_000):
        good = keyed(0, *((b"k%d" % n, None if n % 3 else b"v") for n in range(rng.randint(1, 4))))
        data = bytearray(good[61:])
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF))
        header = read_header(good)._replace(base_timestamp=rng.choice((0, TIME, LONGEST)))
        batch = seal(header, bytes(data[: rng.randint(len(data) // 2, len(data))]))
        for newest in ({}, newest_in(batch), {b"k0": 99}):
            kept = cleaned(batch, a_sieve(newest))
            assert kept is batch or kept is None or read_header(kept).next_offset == header.offsets


def test_a_bomb_is_left_where_it_is(monkeypatch):
    monkeypatch.setattr("samsa.log.compact_batch.MOST_UNPACKED", 1_000)
    batch = keyed(0, (b"a", b"0" * 100_000), codec=Codec.GZIP)
    assert newest_in(batch) == {}
    assert cleaned(batch, a_sieve({b"a": 99})) is batch


# Producers


def test_a_batch_that_its_producer_may_be_asked_about_leaves_its_header():
    batch = keyed(10, (b"a", b"1"), (b"b", b"2"), codec=Codec.LZ4, **PRODUCER)
    kept = cleaned(batch, a_sieve({b"a": 99, b"b": 99}, asked_for={10}))
    before, after = read_header(batch), read_header(kept)
    assert (after.count, after.size, after.codec) == (0, 61, Codec.NONE)
    for name in ("base_offset", "offsets", *PRODUCER, "last_sequence", "max_timestamp"):
        assert getattr(after, name) == getattr(before, name), name
    assert cleaned(kept, a_sieve({}, asked_for={10})) is kept
    assert cleaned(kept, a_sieve({}, asked_for={9})) is None


def test_a_batch_without_a_producer_is_never_asked_for():
    assert cleaned(filler(10, 3, -1), a_sieve({}, asked_for={10})) is None
