"""A consumer that waits costs nothing, and is woken at once."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

import pytest
from server.peer import Peer
from server.talk import FETCH, batch, create, describe, fetch_row, read, records_in, values, write
from support.fake_gateway import FakeGateway
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa_websocket.envelope import News, ParkedReply, Wake
from samsa_websocket.shim.settings import ShimTimes

TOPIC = "letters"
WAIT_MS = 200
TICK = 0.005
"""Timers are not exact."""


@pytest.fixture
def writer(connect: Callable[..., Peer]) -> Peer:
    peer = connect()
    create(peer, TOPIC, 2)
    return peer


@pytest.fixture
def reader(connect: Callable[..., Peer], writer: Peer) -> Peer:
    return connect()


def fetches(gateway: FakeGateway) -> int:
    return gateway.api_keys().count(ApiKey.FETCH)


def timed(work: Callable[[], object]) -> tuple[float, object]:
    before = time.monotonic()
    result = work()
    return time.monotonic() - before, result


def hears_the_news(reader: Peer) -> float:
    """And how long that took."""
    took, answer = timed(reader.answer)
    assert values(records_in(answer.responses[0].partitions[0].records)) == [b"news"]
    return took


def test_the_same_fetch_is_sent_once_and_answered_each_time_after_its_wait(reader, gateway):
    waits = []
    for _ in range(5):
        took, got = timed(lambda: read(reader, TOPIC, 0, wait_ms=WAIT_MS))
        assert not got.records
        waits.append(took)
    assert min(waits) >= WAIT_MS / 1000 - TICK
    assert min(waits) < WAIT_MS / 1000 + 0.5, "one that a busy machine did not hold up"
    assert fetches(gateway) == 1
    assert {request.waited_ms for request in gateway.requests()} == {0}


def test_other_requests_in_between_do_not_make_it_forget(reader, gateway):
    read(reader, TOPIC, 0, wait_ms=50)
    read(reader, TOPIC, 0, partitions=[1], wait_ms=50)
    read(reader, TOPIC, 0, wait_ms=50)
    read(reader, TOPIC, 0, partitions=[1], wait_ms=50)
    assert fetches(gateway) == 2


def test_another_offset_is_another_fetch(reader, writer, gateway):
    write(writer, TOPIC, b"first")
    read(reader, TOPIC, 1, wait_ms=50)
    got = read(reader, TOPIC, 0, wait_ms=50)
    assert values(records_in(got.records)) == [b"first"]


def test_a_held_fetch_is_answered_with_what_was_written_meanwhile(reader, writer):
    reader.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0, wait_ms=20_000))
    time.sleep(0.2)
    write(writer, TOPIC, b"news")
    assert hears_the_news(reader) < 5


def test_a_wake_between_two_fetches_is_not_forgotten(reader, writer, gateway):
    read(reader, TOPIC, 0, wait_ms=50)
    write(writer, TOPIC, b"news")
    time.sleep(0.2)
    describe(reader, TOPIC)
    got = read(reader, TOPIC, 0, wait_ms=50)
    assert values(records_in(got.records)) == [b"news"]
    assert fetches(gateway) == 2


def test_after_a_wake_the_next_wait_is_a_quiet_one(reader, writer, gateway):
    reader.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0, wait_ms=20_000))
    assert eventually(lambda: fetches(gateway) == 1)
    write(writer, TOPIC, b"news")
    reader.answer()
    for _ in range(3):
        read(reader, TOPIC, 1, wait_ms=WAIT_MS)
    assert fetches(gateway) == 3  # asked, asked again when woken, and once at the new offset


def test_a_wake_that_overtakes_the_parking_is_not_lost(reader, writer, gateway):
    gateway.reply_delay_s = 0.4
    reader.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0, wait_ms=20_000))
    time.sleep(0.2)
    write(writer, TOPIC, b"news")
    assert hears_the_news(reader) < 5


def test_a_wake_that_overtakes_the_parking_is_not_lost_to_an_older_answer(reader, writer, gateway):
    """Which is kept for another fetch of the same partition, and takes what the wake brought."""
    data, pushed = batch(b"news"), []

    async def with_news(waiter: Any, names: tuple[str, ...], caller: Any) -> None:
        with contextlib.ExitStack() as ending:
            ending.callback(waiter.__exit__, None, None, None)
            if await waiter.wait(60_000) and not pushed:  # once, though two fetches watch for it
                pushed.append(names)
                topic_id = names[0].partition("/")[0].replace("-", "")
                told = News(names[0], TOPIC, topic_id, 0, 0, 1, 0, len(data))
                await caller.push(Wake(names, (told,), data))

    gateway.function.wake = with_news
    read(reader, TOPIC, 0, wait_ms=50)
    gateway.reply_delay_s = 0.4
    reader.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0, wait_ms=20_000))
    time.sleep(0.2)
    write(writer, TOPIC, b"news")
    assert hears_the_news(reader) < 5


def test_a_lost_wake_costs_no_more_than_the_refresh(reader, writer, gateway):
    gateway.function.good_ms = 500
    gateway.function.wake = lost
    reader.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0, wait_ms=20_000))
    time.sleep(0.1)
    write(writer, TOPIC, b"news")
    assert 0.2 < hears_the_news(reader) < 5


async def lost(*_: object) -> None:
    """A wake that nobody sends."""


def test_kept_answers_grow_old(reader, gateway):
    gateway.function.good_ms = 150
    for _ in range(4):
        read(reader, TOPIC, 0, wait_ms=100)
    assert 2 <= fetches(gateway) <= 4


def test_an_answer_that_is_good_for_nothing_else_still_answers_its_own_fetch(reader, gateway):
    gateway.function.good_ms = 0
    for _ in range(3):
        took, got = timed(lambda: read(reader, TOPIC, 0, wait_ms=WAIT_MS))
        assert not got.records
        assert took >= WAIT_MS / 1000 - TICK
    assert fetches(gateway) == 3


def test_a_function_that_parks_for_no_time_at_all_is_not_asked_without_end(reader, gateway):
    async def parked_for_nothing(message, request, caller):
        return ParkedReply(message.seq, 0)

    gateway.function.fetch = parked_for_nothing
    reader.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0, wait_ms=20_000))
    time.sleep(1.2)
    assert 4 <= fetches(gateway) <= 9


def test_less_than_min_bytes_is_handed_out_when_the_wait_is_over(reader, writer):
    write(writer, TOPIC, b"small")
    took, got = timed(lambda: read(reader, TOPIC, 0, wait_ms=300, min_bytes=1_000_000))
    assert values(records_in(got.records)) == [b"small"]
    assert 0.3 - TICK <= took < 2


def test_a_wake_by_too_little_does_not_shorten_or_lengthen_the_wait(reader, writer):
    reader.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0, wait_ms=800, min_bytes=1_000_000))
    before = time.monotonic()
    time.sleep(0.2)
    write(writer, TOPIC, b"small")
    answer = reader.answer()
    assert 0.8 - TICK <= time.monotonic() - before < 2
    assert values(records_in(answer.responses[0].partitions[0].records)) == [b"small"]


def test_a_client_that_leaves_while_it_waits_takes_its_websocket_along(reader, gateway):
    reader.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0, wait_ms=60_000))
    assert eventually(lambda: fetches(gateway) == 1)
    before = len(gateway.open)
    reader.close()
    assert eventually(lambda: len(gateway.open) == before - 1, 5)


def test_a_quiet_connection_is_kept_alive_by_pings(connect, gateway):
    peer = connect(times=ShimTimes(ping_after=0.1))
    create(peer, "quiet")
    assert eventually(lambda: gateway.pings() >= 3)
    read(peer, "quiet", 0)
    assert len(gateway.targets) == 2  # one to try the gateway out, and one


def test_a_client_that_asks_nothing_for_long_is_let_go(connect):
    peer = connect(times=ShimTimes(client_idle=0.3))
    create(peer, "quiet")
    assert peer.is_closed()
