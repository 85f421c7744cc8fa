"""Clients of Kafka 0.8 to 0.10 on raw frames, and clients of today, on the same log."""

import struct
from typing import Any

import pytest
from server.message_sets import Old, message_set, messages_in
from server.peer import Peer
from server.talk import NOW, append, batch, everything, fetch_row, read, records_in, values, write

from samsa.records.compression import Codec
from samsa.records.record import Record, build
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

PAIRS = [(b"k%d" % n, b"value %d " % n * (50 * n)) for n in range(6)] + [(None, b"x"), (b"k", None)]
OLD_CODECS = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]
OLD_FETCHES = {0: 0, 1: 0, 2: 1, 3: 1}
"""Versions of Fetch that get message sets, and the magic that each gets."""


OLD_WRITES = [
    (version, magic, codec)
    for version, magic in [(0, 0), (1, 0), (2, 0), (2, 1)]
    for codec in OLD_CODECS
]


def wrote_old(peer: Peer, topic: str, version: int, magic: int, codec: Codec) -> None:
    """Two message sets after one modern record, so that no offset is right by chance."""
    write(peer, topic, b"first")
    for expected in (1, 1 + len(PAIRS)):
        answer = append(peer, topic, message_set(magic, PAIRS, codec, NOW), version)
        assert (ErrorCode(answer.error_code), answer.base_offset) == (ErrorCode.NONE, expected)


@pytest.mark.parametrize(("version", "magic", "codec"), OLD_WRITES)
def test_what_an_old_client_wrote_is_read_at_every_age(
    version: int, magic: int, codec: Codec, peer: Peer, topic: str
) -> None:
    wrote_old(peer, topic, version, magic, codec)
    expected = [(None, b"first"), *PAIRS, *PAIRS]
    for fetch_version, fetch_magic in OLD_FETCHES.items():
        found = messages_in(read(peer, topic, 0, fetch_version).records)
        assert [message.offset for message in found] == list(range(len(expected)))
        assert [(message.key, message.value) for message in found] == expected
        if magic and fetch_magic:
            times = [message.timestamp for message in found[1 : 1 + len(PAIRS)]]
            assert times == [NOW + n for n in range(len(PAIRS))]
    for fetch_version in (4, 11, 12):
        modern = records_in(read(peer, topic, 0, fetch_version).records)
        assert [record.offset for record in modern] == list(range(len(expected)))
        assert [(record.key, record.value) for record in modern] == expected


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("version", OLD_FETCHES)
def test_what_a_modern_client_wrote_is_read_by_an_old_one(
    version: int, codec: Codec, peer: Peer, topic: str
) -> None:
    written = [
        Record(n, NOW + n, key, value, (("header", b"dropped"),))
        for n, (key, value) in enumerate(PAIRS)
    ]
    write(peer, topic, b"first")
    append(peer, topic, build(written, codec=codec))
    stamps = [None if OLD_FETCHES[version] == 0 else record.timestamp for record in written]
    expected = [
        Old(record.offset + 1, record.key, record.value, stamp)
        for record, stamp in zip(written, stamps, strict=True)
    ]
    assert messages_in(read(peer, topic, 1, version).records) == expected


@pytest.mark.parametrize("version", [0, 1, 2])
def test_an_old_client_with_small_max_bytes_reads_on_message_by_message(
    version: int, peer: Peer, topic: str
) -> None:
    sent = [b"%d" % n * 2_000 for n in range(6)]
    write(peer, topic, *sent)
    found: list[Old] = []
    while len(found) < len(sent):
        got = messages_in(read(peer, topic, len(found), version, max_bytes=100).records)
        assert got, "no message, and so no progress"
        found += got
    assert [message.value for message in found] == sent


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_last_message_is_cut_where_max_bytes_are_reached(
    version: int, peer: Peer, topic: str
) -> None:
    write(peer, topic, *(b"%d" % n * 1_000 for n in range(5)))
    data = read(peer, topic, 0, version, max_bytes=2_500).records
    assert len(data) == 2_500
    assert [message.offset for message in messages_in(data)] == [0, 1]


def test_an_old_client_starts_within_a_batch_at_exactly_its_offset(peer: Peer, topic: str) -> None:
    write(peer, topic, b"a", b"b", b"c", b"d", codec=Codec.ZSTD)
    found = messages_in(read(peer, topic, 2, 0).records)
    assert [(message.offset, message.value) for message in found] == [(2, b"c"), (3, b"d")]


def test_an_old_client_waits_for_news_and_is_woken(connect: Any, topic: str) -> None:

    consumer, producer = connect(), connect()
    consumer.send(ApiKey.FETCH, 0, fetch_row(topic, 0, wait_ms=60_000))
    write(producer, topic, b"news")
    got = consumer.answer().responses[0].partitions[0]
    assert [message.value for message in messages_in(got.records)] == [b"news"]


def broken(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", OLD_CODECS)
def test_a_message_set_with_a_bad_checksum_is_corrupt_and_not_stored(
    codec: Codec, magic: int, peer: Peer, topic: str
) -> None:
    answer = append(peer, topic, broken(message_set(magic, PAIRS, codec), 14), version=2)
    assert ErrorCode(answer.error_code) is ErrorCode.CORRUPT_MESSAGE
    assert everything(peer, topic) == []


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_modern_batch_in_an_old_request_is_refused(version: int, peer: Peer, topic: str) -> None:
    answer = append(peer, topic, batch(b"modern"), version=version)
    assert ErrorCode(answer.error_code) is ErrorCode.INVALID_RECORD


def test_an_old_message_set_in_a_modern_request_is_refused(peer: Peer, topic: str) -> None:
    answer = append(peer, topic, message_set(1, PAIRS, Codec.NONE), version=3)
    assert answer.error_code in (ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD)
    assert everything(peer, topic) == []


def test_the_answer_to_a_version_0_produce_has_the_shape_of_kafka_0_8(
    peer: Peer, topic: str
) -> None:
    name, data = topic.encode(), message_set(0, [(None, b"x")], Codec.NONE)
    body = struct.pack(">hhih", 0, 0, 9, -1) + struct.pack(">hii", 1, 1_000, 1)
    body += struct.pack(">h", len(name)) + name + struct.pack(">iii", 1, 0, len(data)) + data
    peer.say(struct.pack(">i", len(body)) + body)
    shape = struct.pack(">iih", 9, 1, len(name)) + name + struct.pack(">iihq", 1, 0, 0, 0)
    assert peer.read_frame() == shape


def test_old_and_new_writers_take_turns_on_one_log(peer: Peer, topic: str) -> None:
    for n in range(10):
        if n % 2:
            append(peer, topic, message_set(n % 4 // 2, [(None, b"%d" % n)], Codec.GZIP), 2)
        else:
            write(peer, topic, b"%d" % n)
    expected = [b"%d" % n for n in range(10)]
    assert values(everything(peer, topic)) == expected
    assert [m.value for m in messages_in(read(peer, topic, 0, 0).records)] == expected
