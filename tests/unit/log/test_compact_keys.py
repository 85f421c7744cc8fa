"""The key map: the newest of every key, in no more memory than it may take."""

import tracemalloc

import pytest
from unit.log.compacting import HOUR, TIME, cleaned_all, keyed

from samsa.log.compact_keys import BYTES_PER_KEY, KeyMap
from samsa.records import Codec, read_header
from samsa.records.batch import seal
from samsa.records.spans import at_once

ROOMY = 10**6


def a_log(batches: int, records: int = 4) -> list[bytes]:
    return [
        keyed(base, *((b"%020d" % (base + n), b"v") for n in range(records)))
        for base in range(0, batches * records, records)
    ]


def test_every_key_has_its_newest_offset():
    keys = KeyMap(ROOMY, 0)
    at_once(keys.add([keyed(0, (b"a", b"1"), (b"b", b"2")), keyed(2, (b"a", None))], below=3))
    assert keys.newest == {b"a": 2, b"b": 1}
    assert keys.end == 3


def test_what_was_cleaned_before_and_what_is_too_new_is_not_in_it():
    keys = KeyMap(ROOMY, 4)
    at_once(keys.add([b"".join(a_log(4))], below=12))
    assert sorted(keys.newest.values()) == list(range(4, 12))
    assert (keys.start, keys.end) == (4, 12)


def test_a_full_map_ends_at_a_batch():
    keys = KeyMap(10 * BYTES_PER_KEY, 0)
    at_once(keys.add(a_log(5), below=20))
    assert keys.full
    assert keys.end == 12
    assert sorted(keys.newest.values()) == list(range(12))


def test_the_same_keys_again_need_no_room():
    keys = KeyMap(10 * BYTES_PER_KEY, 0)
    at_once(keys.add([keyed(n, (b"a", b"v")) for n in range(100)], below=100))
    assert (keys.newest, keys.end) == ({b"a": 99}, 100)


def test_one_batch_is_always_taken():
    keys = KeyMap(1, 0)
    at_once(keys.add(a_log(2, records=50), below=100))
    assert keys.end == 50


def test_a_map_takes_no_more_memory_than_it_may():
    most = 2 * 1024 * 1024
    pieces = (
        keyed(base, *((b"%0200d" % (base + n), b"") for n in range(100)))
        for base in range(0, 2 * most // BYTES_PER_KEY, 100)
    )
    tracemalloc.start()
    try:
        keys = KeyMap(most, 0)
        at_once(keys.add(pieces, below=10**9))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert keys.full
    assert most // 2 < peak <= most


def noted(*batches: bytes) -> KeyMap:
    keys = KeyMap(ROOMY, 0)
    at_once(keys.add(batches, below=10**9))
    return keys


@pytest.mark.parametrize("codec", list(Codec))
def test_what_is_noted_is_cleaned_by_its_places_as_by_its_keys(codec):
    values = (b"x", None, b"y" * 300, b"")
    log = [
        keyed(b, *((b"%d" % (n * b % 7), values[n * b % 4]) for n in range(900)), codec=codec)
        for b in range(0, 4_500, 900)
    ]
    log.append(keyed(4_500, (None, b"no key"), (b"long" * 50, b"1"), (b"long" * 50, None)))
    keys = noted(*log)
    by_places = keys.sieve(TIME, HOUR, frozenset())
    by_keys = by_places._replace(start=2**63)
    assert by_places.start == 0
    found = cleaned_all(log, by_places)
    assert found == cleaned_all(log, by_keys)
    assert found.changed


def test_what_could_not_be_read_is_not_cleaned_by_its_places():
    good = keyed(0, (b"a", b"1"), (b"b", b"2"))
    broken = seal(read_header(good), good[61:-3])
    keys = noted(broken, keyed(2, (b"a", b"3")))
    assert keys.unread == {0}
    found = cleaned_all([broken], keys.sieve(TIME, HOUR, frozenset()))
    assert not found.changed
