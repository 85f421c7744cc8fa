"""Attacks with records: a few kilobytes that unpack to megabytes, or to hundreds of thousands."""

import zlib
from functools import cache
from itertools import count

from server.process import Samsa
from server.talk import append, create, fetch_row, offset_at
from support.hostile_records import NOW, packed, record, sealed
from unit.records.old import message

from samsa.records.compression import Codec
from samsa.records.record import Record, build
from samsa.records.varint import varint
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

names = count()
MEGABYTE = 1 << 20
GZIP = 31
REFUSED = (ErrorCode.INVALID_RECORD, ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.CORRUPT_MESSAGE)


@cache
def one_large_record(megabytes: int) -> bytes:
    return build([Record(0, NOW, b"key", bytes(megabytes * MEGABYTE))], codec=Codec.ZSTD)


@cache
def many_small_records(number: int, codec: Codec, keys: bool) -> bytes:
    """Of several sizes, so that they have to be read one by one."""
    rests = [
        (b"\2k" if keys else b"\1") + varint(size) + bytes(size) + b"\0" for size in (0, 1, 0, 2, 1)
    ]
    data = b"".join(record(n, rest=rests[n % 5]) for n in range(number))
    return sealed(data, number) if codec is Codec.NONE else packed(data, codec, count=number)


@cache
def small_messages_in_a_wrapper() -> bytes:
    stream = zlib.compressobj(wbits=GZIP)
    block = message(1, b"") * 30_000
    data = b"".join([*(stream.compress(block) for _ in range(62)), stream.flush()])
    return message(1, data, attributes=Codec.GZIP)


@cache
def noise_behind_good_records() -> bytes:
    good = b"".join(
        record(n, rest=b"\1" + varint(n % 3) + bytes(n % 3) + b"\0") for n in range(60_000)
    )
    return sealed(good + b"\xff", 60_000)


@cache
def records_with_a_late_one() -> bytes:
    early = b"".join(record(n) for n in range(200_000))
    return packed(early + record(200_000, 1_000), Codec.ZSTD, count=200_001)


def fetches_of_old_clients_from_packed_records(samsa: Samsa) -> None:
    """25 batches of a few kilobytes each, and 400 megabytes in them."""
    topic = f"packed-{next(names)}"
    with samsa.peer() as peer:
        create(peer, topic)
        for megabytes in [2] * 12 + [60] * 6 + [2] * 7:
            assert append(peer, topic, one_large_record(megabytes)).error_code == ErrorCode.NONE
        for version in (0, 2, 3):
            row = fetch_row(topic, 0, max_bytes=MEGABYTE)
            peer.ask(ApiKey.FETCH, version, row)
            peer.ask(ApiKey.FETCH, version, fetch_row(topic, 12, max_bytes=MEGABYTE))


def fetches_of_old_clients_from_many_small_records(samsa: Samsa) -> None:
    topic = f"small-{next(names)}"
    with samsa.peer() as peer:
        create(peer, topic)
        for _ in range(5):
            answer = append(peer, topic, many_small_records(300_000, Codec.ZSTD, False))
            assert answer.error_code == ErrorCode.NONE
        for start in (0, 299_000, 1_499_990):
            found = peer.ask(ApiKey.FETCH, 2, fetch_row(topic, start, max_bytes=MEGABYTE))
            assert found.responses[0].partitions[0].records


def messages_of_old_clients_in_a_wrapper(samsa: Samsa) -> None:
    topic = f"wrapped-{next(names)}"
    with samsa.peer() as peer:
        create(peer, topic)
        for version in (0, 1, 2):
            answer = append(peer, topic, small_messages_in_a_wrapper(), version)
            assert ErrorCode(answer.error_code) in REFUSED


def records_without_keys_for_a_compacted_topic(samsa: Samsa) -> None:
    topic = f"compacted-{next(names)}"
    with samsa.peer() as peer:
        create(peer, topic, cleanup_policy="compact")
        for _ in range(4):
            answer = append(peer, topic, many_small_records(95_000, Codec.NONE, False))
            assert ErrorCode(answer.error_code) in REFUSED
            answer = append(peer, topic, many_small_records(85_000, Codec.NONE, True))
            assert answer.error_code == ErrorCode.NONE


def batches_that_unpack_to_much(samsa: Samsa) -> None:
    topic = f"unpacked-{next(names)}"
    with samsa.peer() as peer:
        create(peer, topic)
        for data in (one_large_record(60), many_small_records(300_000, Codec.ZSTD, False)) * 5:
            assert append(peer, topic, data).error_code == ErrorCode.NONE
        assert ErrorCode(append(peer, topic, one_large_record(70)).error_code) in REFUSED


def batches_that_end_in_noise(samsa: Samsa) -> None:
    topic = f"noise-{next(names)}"
    with samsa.peer() as peer:
        create(peer, topic)
        for _ in range(20):
            answer = append(peer, topic, noise_behind_good_records())
            assert ErrorCode(answer.error_code) is ErrorCode.INVALID_RECORD


def times_looked_up_in_packed_records(samsa: Samsa) -> None:
    topic = f"times-{next(names)}"
    with samsa.peer() as peer:
        create(peer, topic)
        assert append(peer, topic, records_with_a_late_one()).error_code == ErrorCode.NONE
        for _ in range(5):
            assert offset_at(peer, topic, NOW + 1).offset == 200_000
