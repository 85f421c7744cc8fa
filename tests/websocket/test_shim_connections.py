"""How many connections a client has: each is paid by the minute, and `samsa cost` counts them. And
how many clients a shim has."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import closing

import pytest
from confluent_kafka import Consumer, Producer
from support.fake_gateway import FakeGateway
from support.waiting import eventually

from samsa_broker.cost.load import PER_CONSUMER, PER_PRODUCER
from samsa_websocket.shim.listener import Shim
from samsa_websocket.shim.settings import ShimLimits, ShimSettings


@pytest.fixture
def bootstrap(dialled: Callable[..., str]) -> str:
    return dialled()


def test_a_producer_and_a_member_of_a_group_have_as_many_as_are_paid_for(
    bootstrap: str, gateway: FakeGateway
):
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce("letters", b"dear sir")
    assert producer.flush(30) == 0
    assert eventually(lambda: len(gateway.open) == PER_PRODUCER)
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "readers",
        "auto.offset.reset": "earliest",
    }
    with closing(Consumer(settings)) as consumer:
        consumer.subscribe(["letters"])
        assert eventually(lambda: consumer.poll(0.1), 30)
        assert eventually(lambda: len(gateway.open) == PER_PRODUCER + PER_CONSUMER)


async def test_the_first_client_too_many_is_told_at_once_and_the_others_are_not(
    gateway: FakeGateway, caplog: pytest.LogCaptureFixture
):
    shim = Shim(ShimSettings(gateway.url, sign=False, limits=ShimLimits(clients=0)))
    host, port = await shim.listen("127.0.0.1", 0)
    for _ in range(5):
        reader, writer = await asyncio.open_connection(host, port)
        assert await asyncio.wait_for(reader.read(), 5) == b""
        writer.close()
    await shim.close()
    (line,) = [each for each in caplog.records if each.getMessage() == "too many clients"]
    assert line.levelno == logging.WARNING
