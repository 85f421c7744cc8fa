"""The cluster breaks in every way; the client notices only what it must decide for itself."""

import socket
import time
from collections.abc import Callable
from contextlib import closing

import pytest
from clients.adapters.confluent import Confluent
from clients.client import Record
from server.peer import Peer
from server.talk import (
    FETCH,
    PRODUCE,
    append,
    batch,
    create,
    describe,
    everything,
    fetch_row,
    new_producer_id,
    produce_row,
    read,
    records_in,
    values,
    write,
)
from support.fake_gateway import FakeGateway, Fault
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.messages import metadata
from samsa_websocket.shim.settings import ShimTimes

TOPIC = "letters"
QUICK = ShimTimes(first_delay=0.02, longest_delay=0.1)
IMPATIENT = ShimTimes(first_delay=0.02, longest_delay=0.1, answer_within=0.4)
UNKNOWN = [Fault.CUT_BEFORE, Fault.CUT_AFTER, Fault.DIES, Fault.SILENT, Fault.NONSENSE]
HARMLESS = [Fault.BUSY, Fault.THROTTLED]


@pytest.fixture
def peer(connect: Callable[..., Peer]) -> Peer:
    made = connect(times=IMPATIENT)
    create(made, TOPIC)
    return made


@pytest.fixture
def stored(connect: Callable[..., Peer], gateway: FakeGateway) -> Callable[[], list[bytes | None]]:
    """What is in the log, read by someone else when nothing goes wrong any more."""

    def look() -> list[bytes | None]:
        gateway.faults.clear()
        return values(everything(connect(), TOPIC))

    return look


@pytest.mark.parametrize("fault", UNKNOWN + HARMLESS)
def test_a_question_is_asked_again(peer, gateway, fault):
    gateway.faults += [fault, fault]
    assert describe(peer, TOPIC).topics[0].name == TOPIC
    # The new topic, the question, and the question twice again under the same number.
    assert [each.seq for each in gateway.requests()] == [1, 2, 2, 2]


@pytest.mark.parametrize("fault", UNKNOWN + HARMLESS)
def test_a_batch_of_an_idempotent_producer_is_sent_again_and_stored_once(
    peer, gateway, stored, fault
):
    producer = {"producer_id": new_producer_id(peer), "producer_epoch": 0}
    for sequence, value in enumerate([b"one", b"two", b"three"]):
        gateway.faults += [fault]
        answer = append(peer, TOPIC, batch(value, **producer, base_sequence=sequence))
        assert (answer.error_code, answer.base_offset) == (0, sequence)
    assert stored() == [b"one", b"two", b"three"]


@pytest.mark.parametrize("fault", UNKNOWN)
def test_a_plain_batch_of_unknown_fate_is_left_to_the_client(peer, gateway, stored, fault):
    gateway.faults += [fault]
    peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"once")))
    assert peer.is_closed()
    was_done = fault in (Fault.CUT_AFTER, Fault.DIES)
    assert stored() == ([b"once"] if was_done else [])


@pytest.mark.parametrize("fault", HARMLESS)
def test_a_plain_batch_that_was_not_taken_is_sent_again(peer, gateway, stored, fault):
    gateway.faults += [fault, fault, fault]
    assert append(peer, TOPIC, batch(b"once")).base_offset == 0
    assert stored() == [b"once"]


def test_an_answer_to_something_else_is_not_taken_for_this_one(peer, gateway):
    gateway.faults += [Fault.STRAY]
    assert append(peer, TOPIC, batch(b"once")).base_offset == 0


def test_a_request_that_a_broker_would_hang_up_on_ends_the_connection(peer, gateway):
    gateway.faults += [Fault.CLOSES]
    peer.send(ApiKey.METADATA, 12, _all_topics())
    assert peer.is_closed()


def _all_topics():
    from samsa.wire.messages import metadata

    return metadata.REQUEST(topics=None)


def test_garbage_ends_the_connection_and_only_that_one(connect, dialled):
    host, _, port = dialled().rpartition(":")
    good, bad, worse = (Peer((host, int(port))) for _ in range(3))
    with closing(good), closing(bad), closing(worse):
        create(good, TOPIC)
        bad.say(b"\x00\x00\x00\x0c" + b"\x7f" * 12)
        assert bad.is_closed()
        worse.say(b"\xff\xff\xff\xff")
        assert worse.is_closed()
        assert describe(good, TOPIC).topics[0].name == TOPIC


def test_a_connection_that_is_cut_while_idle_is_replaced_unnoticed(peer, gateway):
    for round_number in range(3):
        write(peer, TOPIC, b"%d" % round_number)
        gateway.cut_all()
    assert values(everything(peer, TOPIC)) == [b"0", b"1", b"2"]


def test_a_connection_is_replaced_before_its_life_is_over(connect, gateway):
    peer = connect(times=ShimTimes(life=0.3))
    create(peer, TOPIC)
    for number in range(5):
        write(peer, TOPIC, b"%d" % number)
        time.sleep(0.2)
    assert values(everything(peer, TOPIC)) == [b"%d" % n for n in range(5)]
    assert len(gateway.targets) >= 3
    assert [each.seq for each in gateway.requests()] == list(range(1, 9))


def test_a_held_fetch_survives_the_loss_of_its_connection(peer, connect, gateway):
    writer = connect()
    peer.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0, wait_ms=20_000))
    assert eventually(lambda: gateway.api_keys()[-1] == ApiKey.FETCH)
    gateway.cut_all()
    assert eventually(lambda: gateway.api_keys()[-2:] == [ApiKey.FETCH] * 2)
    write(writer, TOPIC, b"news")
    got = peer.answer().responses[0].partitions[0]
    assert values(records_in(got.records)) == [b"news"]


def test_what_was_kept_is_not_trusted_after_the_connection_was_lost(peer, connect, gateway):
    writer = connect()
    read(peer, TOPIC, 0, wait_ms=50)
    gateway.cut_all()
    describe(peer, TOPIC)
    write(writer, TOPIC, b"news")
    assert values(records_in(read(peer, TOPIC, 0, wait_ms=50).records)) == [b"news"]


def test_a_cluster_that_goes_away_is_waited_for(peer, gateway):
    write(peer, TOPIC, b"before")
    gateway.go_away()
    peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"after")))
    time.sleep(0.5)
    gateway.come_back()
    assert peer.answer().responses[0].partition_responses[0].base_offset == 1


def test_a_client_is_let_go_while_the_cluster_stays_away(connect, gateway):
    peer = connect(times=ShimTimes(away=0.3))
    create(peer, TOPIC)
    gateway.go_away()
    peer.send(ApiKey.METADATA, 9, metadata.REQUEST(topics=None))
    assert peer.is_closed()
    gateway.come_back()


@pytest.mark.parametrize("fault", [Fault.DIES, Fault.BUSY, Fault.THROTTLED])
def test_a_client_is_let_go_whose_request_fails_on_and_on(connect, gateway, fault):
    peer = connect(times=ShimTimes(failing=0.3))
    create(peer, TOPIC)
    gateway.faults += [fault] * 100
    peer.send(ApiKey.METADATA, 9, metadata.REQUEST(topics=None))
    assert peer.is_closed()
    gateway.faults.clear()


def test_a_client_that_is_slow_to_read_holds_up_nobody(dialled, gateway):
    host, _, port = dialled().rpartition(":")
    slow = Peer((host, int(port)), receive_buffer=4096)
    quick = Peer((host, int(port)))
    with closing(slow), closing(quick):
        create(quick, TOPIC, max_message_bytes="10000000")
        write(quick, TOPIC, b"x" * 5_000_000)
        slow.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0))
        time.sleep(0.3)
        assert describe(quick, TOPIC).topics[0].name == TOPIC
        got = slow.answer().responses[0].partitions[0]
        assert values(records_in(got.records)) == [b"x" * 5_000_000]


def test_requests_without_an_answer_are_carried_out_though_the_client_has_gone(
    connect, gateway, stored
):
    gateway.delay_s = 0.1
    peer = connect()
    create(peer, TOPIC)
    for number in range(3):
        peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"%d" % number), acks=0))
    peer.close()
    assert eventually(lambda: stored() == [b"0", b"1", b"2"])


def test_a_client_that_has_said_its_last_word_still_hears_the_answers(connect, gateway):
    peer = connect(times=QUICK)
    create(peer, TOPIC)
    gateway.delay_s = 0.2
    for number in range(3):
        peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"%d" % number)))
    peer.socket.shutdown(socket.SHUT_WR)
    answers = [peer.answer().responses[0].partition_responses[0] for _ in range(3)]
    assert [answer.base_offset for answer in answers] == [0, 1, 2]
    assert peer.is_closed()


def test_pipelined_requests_are_answered_in_turn(peer):
    for number in range(10):
        peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"%d" % number)))
    offsets = [peer.answer().responses[0].partition_responses[0].base_offset for _ in range(10)]
    assert offsets == list(range(10))


def test_an_idempotent_librdkafka_loses_and_doubles_nothing_in_bad_weather(
    dialled, gateway, connect
):
    bootstrap = dialled(times=QUICK)
    client = Confluent(bootstrap, **{"enable.idempotence": True, "linger.ms": 0})
    records = [Record(None, b"%d" % n) for n in range(200)]
    client.produce(TOPIC, records[:1], partition=0)
    gateway.faults += [None, Fault.CUT_AFTER, None, Fault.DIES, Fault.BUSY, Fault.CUT_BEFORE] * 20
    for start in range(1, 200, 20):
        client.produce(TOPIC, records[start : start + 20], partition=0)
    gateway.faults.clear()
    assert values(everything(connect(), TOPIC)) == [record.value for record in records]
