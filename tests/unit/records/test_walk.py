"""What a walk over a batch's plain records refuses, one by one and in columns."""

import random
from collections.abc import Callable

import pytest

from samsa.records import InvalidRecord, Record, RecordError, columns, read_header
from samsa.records.columns import FEWEST, ONE, TWO
from samsa.records.header import HEADER_SIZE
from samsa.records.parse import parse
from samsa.records.record import build
from samsa.records.spans import at_once
from samsa.records.varint import varint
from samsa.records.walk import Walked, walk

BASE = 1_700_000_000_000
Shape = Callable[[int], Record]


def alike(number: int) -> Record:
    return Record(number, BASE + number // 50, None, b"x" * 20)


def keyed(number: int) -> Record:
    return Record(number, BASE + number // 50, b"key", b"x" * 20, (("name", b"1234"),))


def slower(number: int) -> Record:
    return Record(number, BASE + number % 7_000, b"k" * 100, b"x" * 200)


def unlike(number: int) -> Record:
    return Record(number, BASE - number * 37, b"k" * (number % 3), b"x" * (number % 300))


def ragged(number: int) -> Record:
    return Record(number, BASE + number // 9, b"id", b"x" * (100 + number * 7919 % 997))


def mixed(number: int) -> Record:
    return (alike, keyed, ragged, unlike)[number // 100 % 4](number)


SHAPES: list[Shape] = [alike, keyed, slower, ragged, unlike, mixed]
some_shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)


def plain(shape: Shape, count: int) -> bytes:
    return build(map(shape, range(count)))[HEADER_SIZE:]


def walked(count: int, data: bytes, keys: bool = True) -> Walked:
    return at_once(walk(count, data, keys))


def newest_of(batch: bytes) -> int:
    header = read_header(batch)
    return max(r.timestamp for r in parse(header, batch[HEADER_SIZE:])) - header.base_timestamp


@some_shapes
@pytest.mark.parametrize("count", [1, 2, FEWEST, ONE + 1, 500, TWO + 100, 3 * TWO])
def test_good_records_pass_and_their_newest_time_is_found(shape: Shape, count: int) -> None:
    batch = build(map(shape, range(count)))
    found = walked(count, batch[HEADER_SIZE:])
    assert found.newest == newest_of(batch)
    assert found.keyless == [n for n in range(count) if shape(n).key is None]


def test_records_of_one_shape_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    original = columns.alike

    def counted(*given: int) -> columns.Alike | None:
        found = original(*given)  # type: ignore[arg-type]
        seen.append(found[0] if found else 0)
        return found

    monkeypatch.setattr("samsa.records.walk.alike", counted)
    walked(3 * TWO, plain(alike, 3 * TWO))
    assert sum(seen) > 0.98 * 3 * TWO
    assert len(seen) < 30


def test_a_time_of_one_byte_or_two_may_be_the_newest_anywhere() -> None:
    for spread in (30, 60, 3_000, 8_000):
        for at in (1, 5, 99, 150, 199):
            times = [10] * 200
            times[at] = spread
            records = [Record(n, BASE + time, None, b"v") for n, time in enumerate(times)]
            batch = build(records)
            assert walked(200, batch[HEADER_SIZE:]).newest == spread - 10


def test_times_before_the_first_are_not_taken_for_later_ones() -> None:
    for delta in (-1, -60, -3_000):
        records = [Record(n, BASE + (delta if n else 0), None, b"v") for n in range(100)]
        assert walked(100, build(records)[HEADER_SIZE:]).newest == 0
        records = [Record(n, BASE + (delta - n % 2 if n else 0), None, b"v") for n in range(100)]
        assert walked(100, build(records)[HEADER_SIZE:]).newest == 0


@some_shapes
def test_noise_under_the_same_count_is_refused(shape: Shape) -> None:
    data = plain(shape, 200)
    for seed in range(20):
        noise = random.Random(seed).randbytes(len(data))
        with pytest.raises(InvalidRecord):
            walked(200, noise)


@some_shapes
@pytest.mark.parametrize("count", [3, 300])
def test_a_count_that_lies_is_refused(shape: Shape, count: int) -> None:
    data = plain(shape, count)
    for other in (count - 1, count + 1, 2**31 - 1):
        with pytest.raises(InvalidRecord):
            walked(other, data)


@some_shapes
def test_a_cut_and_an_added_byte_are_refused(shape: Shape) -> None:
    data = plain(shape, 100)
    for wrong in (data[:-1], data[1:], data + b"\0", b""):
        with pytest.raises(InvalidRecord):
            walked(100, wrong)


@some_shapes
def test_offsets_that_are_not_in_sequence_are_refused(shape: Shape) -> None:
    batch = build(map(shape, range(200)))
    halves = build([shape(n) for n in range(200) if n != 150])
    with pytest.raises(InvalidRecord, match="place"):
        walked(199, halves[HEADER_SIZE:])
    assert walked(200, batch[HEADER_SIZE:])


@some_shapes
def test_what_the_walk_passes_can_be_read_however_it_was_changed(shape: Shape) -> None:
    """A byte of a value may change unseen; every other change is refused, or leaves records that
    any client can read."""
    batch = build(map(shape, range(150)))
    header, data = read_header(batch), batch[HEADER_SIZE:]
    dice = random.Random(7)
    for _ in range(500):
        changed = bytearray(data)
        changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        try:
            found = walked(150, bytes(changed))
        except InvalidRecord:
            continue
        records = list(parse(header, bytes(changed)))
        assert [r.offset for r in records] == list(range(150))
        assert found.newest == max(r.timestamp for r in records) - header.base_timestamp
        assert found.keyless == [n for n, r in enumerate(records) if r.key is None]


def record(body: bytes, length: int | None = None) -> bytes:
    return varint(len(body) if length is None else length) + body


ZERO = b"\0"
WRONG = {
    "a negative length": record(ZERO * 6, -6),
    "a length beyond the end": record(ZERO * 6, 7),
    "a length that ends early": record(ZERO * 7, 6) + ZERO,
    "a key beyond the end": record(b"\0\0\0" + varint(99) + b"k\0\0"),
    "a value beyond the end": record(b"\0\0\0\0" + varint(99) + b"v\0"),
    "a key of two gigabytes": record(b"\0\0\0" + varint(2**31 - 1) + b"k\0\0"),
    "a negative count of headers": record(b"\0\0\0\0\0\1"),
    "more headers than bytes": record(b"\0\0\0\0\0" + varint(2**31 - 1) + b"\0\0"),
    "a header without a name": record(b"\0\0\0\0\0\2\1\1"),
    "a header's name beyond the end": record(b"\0\0\0\0\0\2" + varint(50) + b"n\0"),
    "a header's value beyond the end": record(b"\0\0\0\0\0\2\0" + varint(50) + b"v"),
    "an integer that does not end": record(b"\0" + b"\xff" * 11),
    "an offset of ten bytes": record(b"\0\0" + b"\x80" * 9 + b"\0\0\0\0"),
    "a time of ten bytes": record(b"\0" + b"\xff" * 9 + b"\1\0\0\0\0"),
    "nothing": b"",
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG.keys())
def test_a_record_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRecord):
        walked(1, data)


def test_the_smallest_record_and_nulls_are_records() -> None:
    assert walked(1, record(ZERO * 6)) == Walked(0, [])
    assert walked(1, record(b"\0\0\0\1\1\0")) == Walked(0, [0])
    # Other negative lengths than −1 are null too, as in Kafka.
    assert walked(1, record(b"\0\0\0\3\5\2\0\7"), keys=False) == Walked(0, [])


def test_a_walk_stops_for_others_every_few_records() -> None:
    assert sum(1 for _ in walk(5_000, plain(unlike, 5_000))) >= 5_000 // 512


def test_every_error_of_a_walk_is_a_record_error() -> None:
    dice = random.Random(3)
    for size in range(400):
        for _ in range(5):
            data = dice.randbytes(size)
            with pytest.raises(RecordError):
                walked(max(1, size // 7), data)
