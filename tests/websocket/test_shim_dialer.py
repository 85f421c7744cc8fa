"""The dialer: a cluster inside of a Python program."""

import asyncio
import threading
from http import HTTPStatus

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from kafka import KafkaConsumer, KafkaProducer
from server.peer import Peer
from server.talk import versions
from support.waiting import eventually

from samsa_websocket.shim import Away, ClientRefused, dial
from samsa_websocket.shim.listener import Shim
from samsa_websocket.shim.settings import ShimSettings


def test_kafka_python_needs_no_other_process(gateway):
    with dial(gateway.url, sign=False) as bootstrap:
        producer = KafkaProducer(bootstrap_servers=bootstrap)
        producer.send("letters", b"hello").get(20)
        producer.close()
        consumer = KafkaConsumer(
            "letters",
            bootstrap_servers=bootstrap,
            auto_offset_reset="earliest",
            consumer_timeout_ms=20_000,
        )
        assert next(consumer).value == b"hello"
        consumer.close()


def test_aiokafka_runs_beside_it_in_a_loop_of_its_own(gateway):
    async def work(bootstrap: str) -> bytes | None:
        async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
            await producer.send_and_wait("letters", b"hello")
        async with AIOKafkaConsumer(
            "letters", bootstrap_servers=bootstrap, auto_offset_reset="earliest"
        ) as consumer:
            return (await asyncio.wait_for(consumer.getone(), 20)).value

    with dial(gateway.url, sign=False) as bootstrap:
        assert asyncio.run(work(bootstrap)) == b"hello"


def test_nothing_of_it_is_left_after_closing(gateway):
    before = set(threading.enumerate())
    dialer = dial(gateway.url, sign=False)
    assert dialer.bootstrap.startswith("127.0.0.1:")
    dialer.close()
    dialer.close()
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert "samsa-dialer" not in left


def test_a_cluster_that_refuses_or_is_away_is_an_error_at_once(gateway):
    gateway.refuses = HTTPStatus.FORBIDDEN
    with pytest.raises(ClientRefused, match="403"):
        dial(gateway.url, sign=False)
    gateway.go_away()
    with pytest.raises(Away, match="refused"):
        dial(gateway.url, sign=False)
    with pytest.raises(ClientRefused, match="wss://"):
        dial("http://example.com")


def test_a_client_that_goes_just_before_the_dialer_does_leaves_no_websocket_open(gateway):
    for _ in range(10):
        dialer = dial(gateway.url, sign=False)
        host, _, port = dialer.bootstrap.rpartition(":")
        with Peer((host, int(port))) as peer:
            versions(peer)
        dialer.close()
    assert eventually(lambda: not gateway.open)


def test_a_shim_that_ends_at_any_turn_after_its_client_has_gone_leaves_no_websocket_open(gateway):
    async def go_and_close(turns: int) -> None:
        shim = Shim(ShimSettings(gateway.url, sign=False))
        with await asyncio.to_thread(Peer, await shim.listen("127.0.0.1", 0)) as peer:
            await asyncio.to_thread(versions, peer)
        for _ in range(turns):
            await asyncio.sleep(0)
        await shim.close()

    for turns in range(12):
        asyncio.run(go_and_close(turns))
    assert eventually(lambda: not gateway.open)
