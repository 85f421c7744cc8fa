"""Frames that do not fit into a message: up by presigned PUT, down by parallel ranged GETs."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from server.peer import Peer
from server.talk import (
    FETCH,
    PRODUCE,
    append,
    batch,
    create,
    everything,
    fetch_row,
    produce_row,
    read,
    records_in,
    values,
    write,
)
from support.fake_gateway import Fault
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa_websocket.envelope import LARGEST_INLINE, Reference, Request, Upload
from samsa_websocket.shim.settings import ShimLimits, ShimTimes

TOPIC = "parcels"
QUICK = ShimTimes(first_delay=0.02, longest_delay=0.1)
MB = 1_000_000


@pytest.fixture
def peer(connect: Callable[..., Peer]) -> Peer:
    made = connect(times=QUICK)
    create(made, TOPIC, max_message_bytes=str(60 * MB))
    return made


def produce_of(peer: Peer, frame_size: int) -> tuple[bytes, bytes]:
    """A produce request whose frame is exactly so large, and the value in it."""
    spare = len(peer.frame(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"x" * 90_000)))) - 4
    peer._asked.pop()
    value = b"x" * (90_000 + frame_size - spare)
    whole = peer.frame(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(value)))
    assert len(whole) - 4 == frame_size
    return whole, value


@pytest.mark.parametrize(("above", "kind"), [(0, Request), (1, Reference)])
def test_the_largest_inline_request_is_sent_as_it_is_and_one_byte_more_is_uploaded(
    peer, gateway, above, kind
):
    whole, value = produce_of(peer, LARGEST_INLINE + above)
    peer.say(whole)
    assert peer.answer().responses[0].partition_responses[0].error_code == 0
    assert isinstance(gateway.requests()[-1], kind)
    assert values(everything(peer, TOPIC)) == [value]


def test_a_message_of_several_frames_stays_below_the_frame_limit(peer, gateway):
    whole, _ = produce_of(peer, LARGEST_INLINE)
    peer.say(whole)
    peer.answer()
    assert max(gateway.frames) <= 32 * 1024
    assert len(gateway.frames) > len(gateway.messages)


def test_an_upload_that_fails_is_made_again_with_a_new_ticket(peer, gateway):
    gateway.function.store.failures += [503, 403]
    assert append(peer, TOPIC, batch(b"y" * MB)).base_offset == 0
    assert sum(isinstance(each, Upload) for each in gateway.messages) == 3
    assert sum(isinstance(each, Reference) for each in gateway.messages) == 1
    assert len(gateway.function.store.puts) == 1


def test_a_plain_batch_that_was_uploaded_and_whose_reference_is_lost_is_the_client_s(peer, gateway):
    gateway.faults += [Fault.CUT_AFTER]
    peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"y" * MB)))
    assert peer.is_closed()


def large_produces(peer, *values: bytes) -> list[int]:
    """Of a megabyte each, sent one behind the other; the offsets that they got."""
    frames = [
        peer.frame(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(value * MB)))
        for value in values
    ]
    sender = threading.Thread(target=lambda: peer.say(b"".join(frames)))
    sender.start()
    answers = [peer.answer() for _ in frames]
    sender.join()
    found = [answer.responses[0].partition_responses[0] for answer in answers]
    assert [each.error_code for each in found] == [0] * len(values)
    return [each.base_offset for each in found]


@pytest.fixture
def pipelining(connect, gateway) -> Peer:
    peer = connect()
    create(peer, TOPIC, max_message_bytes=str(10 * MB))
    gateway.function.store.delay_s = 0.3  # so that the others are here before the first is stored
    return peer


def said(gateway) -> list[type]:
    return [type(each) for each in gateway.messages if isinstance(each, Upload | Reference)]


def test_the_next_large_request_travels_while_this_one_is_answered(pipelining, gateway):
    assert large_produces(pipelining, b"1", b"2") == [0, 1]
    assert said(gateway) == [Upload, Upload, Reference, Reference]
    assert len(gateway.function.store.puts) == 2


def test_large_produces_that_wait_travel_together_and_keep_their_order(pipelining, gateway):
    assert large_produces(pipelining, b"1", b"2", b"3", b"4") == [0, 1, 2, 3]
    first, others = gateway.requests()[-2:]
    assert (first.several, others.several) == (False, True)
    assert others.size > 3 * MB
    assert said(gateway) == [Upload, Upload, Reference, Reference]
    stored = [value[:1] for value in values(everything(pipelining, TOPIC))]
    assert stored == [b"1", b"2", b"3", b"4"]


def test_an_upload_that_failed_ahead_of_its_turn_is_made_again(pipelining, gateway):
    gateway.function.store.failures += [0, 403]
    assert large_produces(pipelining, b"1", b"2", b"3") == [0, 1, 2]
    assert said(gateway).count(Upload) == 3
    assert said(gateway).count(Reference) == 2


def test_offsets_that_their_writer_guessed_too_low_are_right_when_they_arrive(connect, gateway):
    peer = connect(times=QUICK)
    gateway.function.part_bytes = 7_001
    create(peer, TOPIC)
    gateway.function.lists_everything = True
    gateway.function.guessed_low_by = 70_000
    for number in range(9):
        write(peer, TOPIC, *[b"%d" % number * 3_000] * (number + 1))
    found = everything(peer, TOPIC)
    assert [record.offset for record in found] == list(range(45))
    assert values(found) == [b"%d" % n * 3_000 for n in range(9) for _ in range(n + 1)]


def numbered(peer, sequence: int, **more: int) -> bytes:
    data = batch(b"%d" % sequence, producer_epoch=0, base_sequence=sequence, **more)
    return peer.frame(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, data))


def four_at_once(peer) -> list[tuple[int, int]]:
    """Of an idempotent producer, in one packet; what became of each."""
    peer.say(b"".join(numbered(peer, n, producer_id=7) for n in range(4)))
    answers = [peer.answer().responses[0].partition_responses[0] for _ in range(4)]
    return [(each.error_code, each.base_offset) for each in answers]


def test_small_produces_that_came_together_share_a_message(peer, gateway):
    before = len(gateway.requests())
    assert four_at_once(peer) == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert [each.several for each in gateway.requests()[before:]] == [True]


def test_idempotent_produces_that_were_lost_together_are_repeated_together(peer, gateway):
    before = len(gateway.requests())
    gateway.faults += [Fault.DIES]
    assert four_at_once(peer) == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert [each.several for each in gateway.requests()[before:]] == [True, True]
    assert values(everything(peer, TOPIC)) == [b"0", b"1", b"2", b"3"]


def test_if_one_of_several_must_not_be_repeated_none_is(peer, gateway):
    before = len(gateway.requests())
    gateway.faults += [Fault.DIES]
    plain = peer.frame(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"plain")))
    peer.say(numbered(peer, 0, producer_id=7) + plain)
    assert peer.is_closed()
    assert [each.several for each in gateway.requests()[before:]] == [True]


def test_produces_that_want_no_answer_get_none_beside_others_that_do(peer):
    silent = peer.frame(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"silent"), acks=0))
    peer._asked.pop()
    peer.say(silent + numbered(peer, 0, producer_id=7))
    assert peer.answer().responses[0].partition_responses[0].base_offset == 1
    assert values(everything(peer, TOPIC)) == [b"silent", b"0"]


def test_a_large_answer_is_fetched_in_parallel_and_comes_in_order(connect, gateway):
    peer = connect(limits=ShimLimits(pieces_ahead=4))
    gateway.function.part_bytes = 100_000
    create(peer, TOPIC, max_message_bytes=str(10 * MB))
    value = bytes(range(256)) * 10_000
    write(peer, TOPIC, value)
    gateway.function.store.delay_s = 0.02
    assert values(records_in(read(peer, TOPIC, 0).records)) == [value]
    store = gateway.function.store
    assert 2 <= store.most_at_once <= 4
    assert max(length for _, _, length in store.gets) == 100_000
    assert gateway.function.frame_bytes < 10_000


def test_every_answer_may_come_in_pieces(peer, gateway):
    gateway.function.lists_everything = True
    written = [b"%d" % n * 100 for n in range(20)]
    for value in written:
        write(peer, TOPIC, value)
    assert values(everything(peer, TOPIC)) == written


def test_a_piece_that_fails_for_a_moment_is_fetched_again(peer, gateway):
    write(peer, TOPIC, b"z" * MB)
    gateway.function.store.failures += [500, 503]
    assert values(records_in(read(peer, TOPIC, 0).records)) == [b"z" * MB]


def test_urls_that_have_expired_are_asked_for_again(peer, gateway):
    write(peer, TOPIC, b"z" * MB)
    gateway.function.store.failures += [403]
    before = len(gateway.requests())
    assert values(records_in(read(peer, TOPIC, 0).records)) == [b"z" * MB]
    assert len(gateway.requests()) == before + 2


def test_an_answer_that_breaks_off_in_the_middle_ends_the_connection(connect, gateway):
    peer = connect(limits=ShimLimits(pieces_ahead=1))
    gateway.function.part_bytes = 100_000
    create(peer, TOPIC, max_message_bytes=str(10 * MB))
    write(peer, TOPIC, b"z" * MB)
    store = gateway.function.store
    # The log object shrinks behind the gather list's back: later ranges are not there any more.
    keep = store.keep

    def keep_half(data: bytes) -> str:
        return keep(data[: len(data) // 2])

    store.keep = keep_half
    with pytest.raises(EOFError):
        read(peer, TOPIC, 0)


@pytest.fixture
def fifty_megabytes(connect: Callable[..., Peer]) -> None:
    writer = connect()
    create(writer, TOPIC, max_message_bytes=str(60 * MB))
    for number in range(10):
        write(writer, TOPIC, bytes([number]) * 5 * MB)


def ask_for_all(peer: Peer) -> None:
    row = fetch_row(TOPIC, 0, max_bytes=60 * MB)
    row.max_bytes = 60 * MB
    peer.send(ApiKey.FETCH, FETCH, row)


@pytest.mark.usefixtures("fifty_megabytes")
def test_fifty_megabytes_come_through_and_pass_by_the_function(connect, gateway):
    peer = connect(limits=ShimLimits(memory=4 * MB, pieces_ahead=8))
    gateway.function.part_bytes = MB
    before = gateway.function.frame_bytes
    gateway.function.store.delay_s = 0.005
    ask_for_all(peer)
    answer = peer.answer().responses[0].partitions[0]
    assert [len(value) for value in values(records_in(answer.records))] == [5 * MB] * 10
    assert gateway.function.frame_bytes - before < 1000
    # There is memory for four pieces, however many might be fetched ahead.
    assert 2 <= gateway.function.store.most_at_once <= 4


@pytest.mark.usefixtures("fifty_megabytes")
def test_nothing_is_fetched_for_a_client_that_does_not_take_it(dialled, gateway):
    host, _, port = dialled(limits=ShimLimits(pieces_ahead=2)).rpartition(":")
    gateway.function.part_bytes = MB
    with closing(Peer((host, int(port)), receive_buffer=4096)) as peer:
        ask_for_all(peer)
        assert eventually(lambda: has_stopped_growing(gateway.function.store.gets), 30)
        assert len(gateway.function.store.gets) < 20


def has_stopped_growing(found: list[Any]) -> bool:
    before = len(found)
    time.sleep(0.5)
    return 0 < before == len(found)


def test_an_oversized_request_is_not_read(connect):
    peer = connect(limits=ShimLimits(frame_bytes=MB))
    peer.say((MB + 1).to_bytes(4, "big") + b"x" * 100)
    assert peer.is_closed()


def test_a_request_that_never_ends_is_given_up(connect):
    peer = connect(times=ShimTimes(client_stalls=0.3))
    peer.say((1000).to_bytes(4, "big") + b"x" * 100)
    assert peer.is_closed()


def test_many_large_requests_at_once_wait_for_memory_and_all_arrive(connect, dialled, gateway):
    host, _, port = dialled(limits=ShimLimits(memory=3 * MB), times=QUICK).rpartition(":")
    peers = [Peer((host, int(port))) for _ in range(6)]
    create(peers[0], TOPIC, 6, max_message_bytes=str(10 * MB))
    for number, peer in enumerate(peers):
        peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"w" * MB), partition=number))
    answers = [peer.answer().responses[0].partition_responses[0] for peer in peers]
    assert [answer.error_code for answer in answers] == [0] * 6
    for peer in peers:
        peer.close()
