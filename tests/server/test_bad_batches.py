"""Records that are none: refused with their own error, nothing stored, neighbours unharmed."""

import struct
from collections.abc import Callable
from functools import partial

import pytest
from server.neighbour import Neighbour
from server.peer import Peer
from server.process import Samsa
from server.talk import (
    append,
    batch,
    create,
    describe,
    end_of,
    everything,
    offset_at,
    produce_row,
    read,
    values,
    write,
)
from support.hostile_records import CASES, HOUR, NOW, STORED, packed, record, sealed, timed

from samsa.records.checksum import crc32c
from samsa.records.compression import Codec
from samsa.records.varint import varint
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import produce

CRC_AT, CRC_FROM, MAGIC_AT, ATTRIBUTES_AT, LAST_DELTA_AT, COUNT_AT = 17, 21, 16, 21, 23, 57


def changed(at: int, value: bytes) -> Callable[[], bytes]:
    def make() -> bytes:
        data = bytearray(batch(b"one", b"two"))
        data[at : at + len(value)] = value
        return bytes(data)

    return make


def resealed(at: int, value: bytes) -> Callable[[], bytes]:
    """A batch that says something else, and whose checksum is right."""

    def make() -> bytes:
        data = bytearray(changed(at, value)())
        data[CRC_AT:CRC_FROM] = struct.pack(">I", crc32c(data[CRC_FROM:]))
        return bytes(data)

    return make


REFUSED = {name: case for name, case in CASES.items() if case.expected is not ErrorCode.NONE}
CORRUPT, INVALID = ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD
BAD_BATCHES: dict[str, tuple[Callable[[], bytes | None], ErrorCode]] = {
    "a checksum that does not match": (changed(CRC_AT, b"\0\0\0\0"), CORRUPT),
    "a record that changed on the way": (changed(-2 % 75, b"\xff"), CORRUPT),
    "magic 3": (changed(MAGIC_AT, b"\3"), CORRUPT),
    "magic 1 where a batch belongs": (changed(MAGIC_AT, b"\1"), CORRUPT),
    "a length beyond the end": (changed(8, struct.pack(">i", 10_000)), CORRUPT),
    "a negative length": (changed(8, struct.pack(">i", -1)), CORRUPT),
    "a batch that is cut": (lambda: batch(b"one")[:-1], CORRUPT),
    "a header that is cut": (lambda: batch(b"one")[:40], CORRUPT),
    "more records than offsets": (resealed(COUNT_AT, struct.pack(">i", 3)), INVALID),
    "more offsets than records": (resealed(LAST_DELTA_AT, struct.pack(">i", 9)), INVALID),
    "a negative count": (resealed(COUNT_AT, struct.pack(">i", -1)), INVALID),
    "a control batch": (resealed(ATTRIBUTES_AT, struct.pack(">h", 0x20)), INVALID),
    "two batches at once": (lambda: batch(b"one") + batch(b"two"), INVALID),
    "no records": (lambda: b"", INVALID),
    "null for records": (lambda: None, INVALID),
    "a codec that does not exist": (
        resealed(ATTRIBUTES_AT, struct.pack(">h", 5)),
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    ),
    **{name: (partial(bytes, case.data), case.expected) for name, case in REFUSED.items()},
}


@pytest.mark.parametrize(("make", "error"), BAD_BATCHES.values(), ids=BAD_BATCHES.keys())
def test_a_bad_batch_is_refused_and_nothing_of_it_is_stored(
    make: Callable[[], bytes | None],
    error: ErrorCode,
    peer: Peer,
    topic: str,
    neighbour: Neighbour,
) -> None:
    write(peer, topic, b"before")
    answer = append(peer, topic, make())
    assert ErrorCode(answer.error_code) is error
    assert answer.base_offset == -1
    assert answer.error_message
    assert write(peer, topic, b"after") == 1
    assert values(everything(peer, topic)) == [b"before", b"after"]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.expected is STORED])
def test_odd_records_that_kafka_stores_are_stored_and_can_be_read(
    name: str, peer: Peer, topic: str
) -> None:
    write(peer, topic, b"before")
    answer = append(peer, topic, CASES[name].data)
    assert ErrorCode(answer.error_code) is ErrorCode.NONE
    write(peer, topic, b"after")
    found = everything(peer, topic)
    assert [record.offset for record in found] == list(range(len(found)))
    assert found[-1].value == b"after"


def test_the_greatest_time_of_a_batch_is_that_of_its_records_whatever_it_says(
    peer: Peer, topic: str
) -> None:
    for newest in (-1, 2**63 - 1, NOW - HOUR + 1):
        append(peer, topic, timed(NOW - HOUR, newest, 0, 500, 20))
    assert [r.timestamp - NOW + HOUR for r in everything(peer, topic)] == [0, 500, 20] * 3
    assert offset_at(peer, topic, NOW - HOUR + 500).offset == 1
    assert offset_at(peer, topic, NOW - HOUR + 501).offset == -1


def test_only_the_broker_sets_its_own_time(peer: Peer, new_name: str) -> None:
    create(peer, new_name, message_timestamp_type="LogAppendTime")
    answer = append(peer, new_name, CASES["the broker's word for its own time"].data)
    assert ErrorCode(answer.error_code) is ErrorCode.INVALID_TIMESTAMP
    assert append(peer, new_name, timed(-1)).error_code == ErrorCode.NONE


def test_how_far_ahead_a_time_may_be_is_the_topics_word(peer: Peer, new_name: str) -> None:
    create(peer, new_name, message_timestamp_after_max_ms=str(3 * HOUR))
    assert append(peer, new_name, timed(NOW + 2 * HOUR)).error_code == ErrorCode.NONE
    answer = append(peer, new_name, timed(NOW + 4 * HOUR))
    assert ErrorCode(answer.error_code) is ErrorCode.INVALID_TIMESTAMP


def test_batches_that_take_long_to_check_keep_their_place_among_others(
    peer: Peer, topic: str
) -> None:
    """Pipelined: small ones are checked at once, large packed ones in a thread."""
    sizes = [n % 60 for n in range(20_000)]
    long = b"".join(
        record(n, rest=b"\1" + varint(size) + bytes(size) + b"\0") for n, size in enumerate(sizes)
    )
    sent = [(sealed(record()), 1), (packed(long, Codec.LZ4, count=20_000), 20_000)] * 5
    sent += [(sealed(record()), 1), (sealed(long, 20_000), 20_000)] * 3
    for data, _ in sent:
        peer.send(ApiKey.PRODUCE, 9, produce_row(topic, data))
    expected = 0
    for _, count in sent:
        answer = peer.answer().responses[0].partition_responses[0]
        assert (ErrorCode(answer.error_code), answer.base_offset) == (STORED, expected)
        expected += count


def test_a_topic_without_partitions_beside_another_is_no_reason_to_end_the_connection(
    peer: Peer, topic: str
) -> None:
    entry = produce.PARTITION(index=0, records=batch(b"once"))
    for empty_at in (0, 1):
        topics = [produce.TOPIC(name=topic, partition_data=[entry])]
        topics.insert(empty_at, produce.TOPIC(name=topic, partition_data=[]))
        row = produce.REQUEST(acks=-1, timeout_ms=30_000, topic_data=topics)
        found = [
            one for t in peer.ask(ApiKey.PRODUCE, 9, row).responses for one in t.partition_responses
        ]
        assert [(one.error_code, one.base_offset) for one in found] == [(0, empty_at)]
    assert values(everything(peer, topic)) == [b"once", b"once"]


def test_one_bad_batch_does_not_spoil_the_others_of_its_request(peer: Peer, new_name: str) -> None:
    create(peer, new_name, partitions=3)
    data = [batch(b"one"), changed(CRC_AT, b"\0\0\0\0")(), batch(b"three")]
    entries = [produce.PARTITION(index=n, records=records) for n, records in enumerate(data)]
    entries.append(produce.PARTITION(index=7, records=batch(b"nowhere")))
    row = produce.REQUEST(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[produce.TOPIC(name=new_name, partition_data=entries)],
    )
    answers = peer.ask(ApiKey.PRODUCE, 9, row).responses[0].partition_responses
    errors = [ErrorCode(answer.error_code) for answer in answers]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert errors == [ErrorCode.NONE, CORRUPT, ErrorCode.NONE, unknown]
    assert [end_of(peer, new_name, n) for n in range(3)] == [1, 0, 1]


def test_a_batch_over_the_limit_is_too_large_and_one_at_the_limit_is_not(
    peer: Peer, new_name: str, neighbour: Neighbour
) -> None:
    data = batch(b"x" * 5_000)
    create(peer, new_name, max_message_bytes=str(len(data)))
    assert append(peer, new_name, data).base_offset == 0
    answer = append(peer, new_name, batch(b"x" * 5_001))
    assert ErrorCode(answer.error_code) is ErrorCode.MESSAGE_TOO_LARGE
    assert end_of(peer, new_name) == 1


@pytest.mark.parametrize("acks", [2, -2, 100])
def test_acks_are_all_one_or_none(acks: int, peer: Peer, topic: str) -> None:
    answer = append(peer, topic, batch(b"x"), acks=acks)
    assert ErrorCode(answer.error_code) is ErrorCode.INVALID_REQUIRED_ACKS
    assert end_of(peer, topic) == 0


def told(peer: Peer, name: str, version: int = 9) -> ErrorCode:
    """A batch, and no question before it."""
    answer = peer.ask(ApiKey.PRODUCE, version, produce_row(name, batch(b"x")))
    return ErrorCode(answer.responses[0].partition_responses[0].error_code)


@pytest.mark.parametrize("version", [3, 9, 12])
def test_an_unknown_topic_is_made_by_metadata_and_not_by_a_batch(
    peer: Peer, new_name: str, version: int
) -> None:
    for _ in range(2):
        assert told(peer, new_name, version) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        (topic,) = describe(peer, new_name).topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    (topic,) = describe(peer, new_name, create=True).topics
    assert topic.error_code == ErrorCode.NONE
    assert told(peer, new_name, version) is ErrorCode.NONE


@pytest.mark.parametrize("partition", [1, -1])
def test_an_unknown_partition_is_not_made(peer: Peer, topic: str, partition: int) -> None:
    answer = append(peer, topic, batch(b"x"), partition=partition)
    assert ErrorCode(answer.error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "ü", "x" * 250, "../../etc"])
def test_a_name_that_no_topic_may_have_makes_none(name: str, peer: Peer) -> None:
    assert told(peer, name) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    (topic,) = describe(peer, name, create=True).topics
    assert topic.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_reading_an_unknown_topic_does_not_make_it(peer: Peer, new_name: str) -> None:
    for _ in range(2):
        got = read(peer, new_name, 0)
        assert ErrorCode(got.error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("offset", [3, 1_000_000, -1, 2**63 - 1, -(2**63)])
def test_an_offset_outside_the_log_is_out_of_range(offset: int, peer: Peer, topic: str) -> None:
    write(peer, topic, b"one", b"two")
    got = read(peer, topic, offset)
    assert ErrorCode(got.error_code) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert not got.records


def test_the_offset_at_the_end_is_in_the_log_and_empty(peer: Peer, topic: str) -> None:
    write(peer, topic, b"one", b"two")
    got = read(peer, topic, 2)
    assert (got.error_code, got.high_watermark, len(got.records or b"")) == (0, 2, 0)


def test_refusals_leave_no_line_in_the_log(samsa: Samsa, peer: Peer, topic: str) -> None:
    before = len(samsa.logged())
    for make, _ in BAD_BATCHES.values():
        append(peer, topic, make())
    assert samsa.logged()[before:] == []
