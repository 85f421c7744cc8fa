import struct
from collections.abc import Iterator

import pytest
from unit.records.bombs import MEGABYTE, bomb
from unit.records.old import framed, from_batches, message, sized, to_batch

from samsa.records import (
    Codec,
    CorruptBatch,
    InvalidRecord,
    Record,
    RecordError,
    TooLarge,
    UnsupportedCodec,
    build,
    filler,
    legacy,
    lz4,
    read_header,
    records,
    validate,
)
from samsa.records.batch import seal
from samsa.records.compression import compress
from samsa.records.header import CONTROL, LOG_APPEND_TIME
from samsa.records.legacy import WantedMessages, is_legacy
from samsa.records.spans import at_once

VALUES = [
    Record(0, 1000, None, b""),
    Record(1, 900, b"", None, (("dropped", b"1"),)),
    Record(2, 1100, b"key", b"value"),
]
BATCH = build(VALUES)
NEW = [record._replace(headers=()) for record in VALUES]
OLD = [record._replace(timestamp=-1) for record in NEW]


def wrapper(magic: int, codec: Codec, inner: bytes, **words: int) -> bytes:
    attributes = words.pop("attributes", 0) | codec
    return message(magic, compress(codec, inner), attributes=attributes, **words)


def converted(message_set: bytes) -> list[Record]:
    batch = to_batch(message_set)
    validate(batch)
    return list(records(batch))


@pytest.mark.parametrize(
    ("buffer", "answer"),
    [
        (message(0, b""), True),
        (message(1, b""), True),
        (BATCH, False),
        (b"", False),
        (bytes(16), False),
        (bytes(16) + b"\xff", False),
    ],
)
def test_magic_0_and_1_are_legacy(buffer, answer):
    assert is_legacy(buffer) is answer
    assert is_legacy(memoryview(buffer)) is answer


@pytest.mark.parametrize(("magic", "expected"), [(0, OLD), (1, NEW)])
def test_a_message_set_becomes_a_batch_and_back(magic, expected):
    message_set = from_batches(BATCH, magic, 0, None)
    assert is_legacy(message_set)
    assert converted(message_set) == expected


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_compressed_messages_are_unwrapped_in_their_place(magic, codec):
    inner = message(magic, b"b", offset=7) + message(magic, b"c", offset=3)
    message_set = message(magic, b"a") + wrapper(magic, codec, inner) + message(magic, b"d")
    found = converted(message_set)
    assert [record.value for record in found] == [b"a", b"b", b"c", b"d"]
    assert [record.offset for record in found] == [0, 1, 2, 3]


def test_both_magics_may_be_in_one_set():
    found = converted(message(0, b"a") + message(1, b"b", timestamp=5) + message(0, b"c"))
    assert [record.timestamp for record in found] == [-1, 5, -1]


def test_a_wrapper_with_log_append_time_gives_it_to_all_inside():
    inner = message(1, b"a", timestamp=1) + message(1, b"b", timestamp=2)
    kept = converted(wrapper(1, Codec.GZIP, inner, timestamp=9))
    given = converted(wrapper(1, Codec.GZIP, inner, timestamp=9, attributes=LOG_APPEND_TIME))
    assert [record.timestamp for record in kept] == [1, 2]
    assert [record.timestamp for record in given] == [9, 9]


def test_magic_0_knows_no_log_append_time():
    inner = message(1, b"a", timestamp=1)
    assert converted(wrapper(0, Codec.GZIP, inner, attributes=LOG_APPEND_TIME))[0].timestamp == 1


def test_the_wrong_lz4_checksum_of_old_java_clients_is_read_in_magic_0_only():
    frame = bytearray(compress(Codec.LZ4, message(0, b"inside")))
    frame[6] = lz4.header_checksum(bytes(frame[:6]))
    assert [r.value for r in converted(message(0, frame, attributes=Codec.LZ4))] == [b"inside"]
    with pytest.raises(CorruptBatch):
        to_batch(message(1, frame, attributes=Codec.LZ4))


def test_a_changed_bit_behind_the_offset_is_an_error():
    good = message(1, b"value", key=b"key", timestamp=5)
    for position in range(8, len(good)):
        changed = bytearray(good)
        changed[position] ^= 0x01
        with pytest.raises(CorruptBatch):
            to_batch(changed)


def test_a_changed_bit_inside_a_wrapper_is_an_error():
    inner = bytearray(message(0, b"value"))
    inner[-1] ^= 0x01
    with pytest.raises(CorruptBatch):
        to_batch(wrapper(0, Codec.GZIP, bytes(inner)))


@pytest.mark.parametrize("missing", range(1, len(message(1, b"value"))))
def test_a_partial_last_message_from_a_producer_is_corrupt(missing):
    message_set = message(1, b"whole") + message(1, b"value")
    with pytest.raises(CorruptBatch):
        to_batch(message_set[:-missing])


WRONG: dict[str, tuple[bytes, type[RecordError]]] = {
    "nothing": (b"", InvalidRecord),
    "a negative size": (struct.pack(">qi", 0, -1) + bytes(30), CorruptBatch),
    "a size of nothing": (struct.pack(">qi", 0, 0), CorruptBatch),
    "no room for a key": (framed(b"\x00\x00"), CorruptBatch),
    "no room for a time": (framed(b"\x01\x00" + bytes(4)), CorruptBatch),
    "magic 2": (framed(b"\x02\x00" + bytes(8)), CorruptBatch),
    "magic -1": (framed(b"\xff\x00" + bytes(8)), CorruptBatch),
    "a key past the end": (framed(b"\x00\x00" + struct.pack(">i", 99) + b"key"), CorruptBatch),
    "a value past the end": (framed(b"\x00\x00" + sized(b"") + b"\0\0\0\x09v"), CorruptBatch),
    "bytes after the value": (framed(b"\x00\x00" + sized(b"") + sized(b"") + b"x"), CorruptBatch),
    "a wrapper without a value": (message(1, None, attributes=Codec.GZIP), InvalidRecord),
    "a wrapper around nothing": (message(1, b"") + wrapper(1, Codec.GZIP, b""), InvalidRecord),
    "a wrapper around a cut message": (wrapper(1, Codec.GZIP, message(1, b"")[:-1]), CorruptBatch),
    "a wrapper of garbage": (message(1, b"garbage", attributes=Codec.GZIP), CorruptBatch),
    "two layers": (
        wrapper(1, Codec.GZIP, wrapper(1, Codec.GZIP, message(1, b""))),
        InvalidRecord,
    ),
    "zstd": (wrapper(1, Codec.ZSTD, message(1, b"")), UnsupportedCodec),
    "codec 6": (message(1, b"", attributes=6), UnsupportedCodec),
    "times too far apart": (
        message(1, b"", timestamp=-(2**63)) + message(1, b"", timestamp=2**63 - 1),
        InvalidRecord,
    ),
}


@pytest.mark.parametrize(("message_set", "error"), WRONG.values(), ids=WRONG)
def test_a_message_set_may_not_hold(message_set, error):
    with pytest.raises(error):
        to_batch(message_set)


def test_a_negative_size_does_not_count_from_the_end():
    body, tail = message(1, b"")[12:], message(1, b"")
    with pytest.raises(CorruptBatch, match="longer"):
        to_batch(struct.pack(">qi", 0, -12 - len(tail)) + body + tail)


def test_all_wrappers_share_one_limit():
    packed = compress(Codec.GZIP, message(0, bytes(MEGABYTE)))
    message_set = message(0, packed, attributes=Codec.GZIP) * 3
    assert len(to_batch(message_set, limit=4 * MEGABYTE)) > 3 * MEGABYTE
    with pytest.raises(CorruptBatch):
        to_batch(message_set, limit=3 * MEGABYTE)


def test_a_bomb_in_a_wrapper_stops_at_the_limit():
    with pytest.raises(CorruptBatch):
        to_batch(message(1, bomb(Codec.GZIP, 64), attributes=Codec.GZIP), limit=MEGABYTE)


@pytest.mark.parametrize("magic", [0, 1])
def test_records_below_the_start_fillers_and_control_batches_are_left_out(magic):
    log = (
        BATCH
        + filler(3, 4, 0)
        + build([Record(7, 0, b"\0\0\0\0", b"")], base_offset=7, attributes=CONTROL)
        + build([Record(8, 5, None, b"last")], base_offset=8, codec=Codec.ZSTD)
    )
    message_set = from_batches(log, magic, 2, None)
    values = [record.value for record in converted(message_set)]
    assert values == [b"value", b"last"]
    assert struct.unpack_from(">q", message_set, 0) == (2,)
    assert from_batches(log, magic, 9, None) == b""


def test_a_batch_below_the_start_is_not_even_unpacked():
    garbage = seal(read_header(BATCH), b"garbage")
    with pytest.raises(CorruptBatch):
        from_batches(garbage, 1, 2)
    assert from_batches(garbage, 1, 3) == b""


def test_log_append_time_is_marked_in_magic_1():
    batch = build(VALUES, attributes=LOG_APPEND_TIME)
    one, zero = from_batches(batch, 1, 2, None), from_batches(batch, 0, 2, None)
    assert (one[17], zero[17]) == (LOG_APPEND_TIME, 0)
    assert converted(one)[0].timestamp == 1100


@pytest.mark.parametrize("magic", [0, 1])
def test_a_set_is_cut_at_max_bytes_inside_a_message_but_not_inside_its_first(magic):
    whole = from_batches(BATCH, magic, 0, None)
    first = 12 + struct.unpack_from(">i", whole, 8)[0]
    for size in range(len(whole) + 2):
        assert from_batches(BATCH, magic, 0, size) == whole[: max(size, first)]


@pytest.mark.parametrize("magic", [0, 1])
def test_a_set_that_may_not_be_cut_ends_with_the_last_message_that_fits(magic):
    whole = from_batches(BATCH, magic, 0, None)
    ends = [len(from_batches(build(VALUES[:n]), magic, 0)) for n in (1, 2, 3)]
    for size in range(len(whole) + 2):
        most = max([end for end in ends if end <= size], default=ends[0])
        assert from_batches(BATCH, magic, 0, size, cut=False) == whole[:most]


def tiny(count: int, codec: Codec) -> bytes:
    return build((Record(n, 0, None, b"") for n in range(count)), codec=codec)


def test_only_as_much_is_converted_as_the_set_may_hold(monkeypatch: pytest.MonkeyPatch):
    made: list[int] = []
    original = legacy._message

    def counted(record: Record, magic: int, attributes: int) -> bytes:
        made.append(record.offset)
        return original(record, magic, attributes)

    monkeypatch.setattr(legacy, "_message", counted)
    bombs = [tiny(20_000, Codec.ZSTD)] * 10
    found = at_once(legacy.from_batches(bombs, WantedMessages(1, 15_000, 1_000, False), 1 << 20))
    assert len(found) == 986
    assert made == list(range(15_000, 15_030))


def test_a_batch_behind_a_full_set_is_not_even_looked_at():
    def stored() -> Iterator[bytes]:
        yield tiny(100, Codec.ZSTD)
        raise AssertionError("the set is full")

    assert (
        len(at_once(legacy.from_batches(stored(), WantedMessages(1, 0, 1_000, False), 1 << 20)))
        == 986
    )


def test_messages_that_make_too_large_a_batch_are_given_up_when_it_is_too_large():
    inner = b"".join(message(1, b"") for _ in range(20_000))
    packed = wrapper(1, Codec.GZIP, inner)
    assert len(to_batch(packed, most=200_000)) < 200_000
    with pytest.raises(TooLarge):
        to_batch(packed, most=100_000)


def test_a_wrapper_is_not_unpacked_to_more_than_its_batch_could_hold():
    with pytest.raises(TooLarge, match="unpack"):
        to_batch(message(1, bomb(Codec.GZIP, 64), attributes=Codec.GZIP), most=100_000)
