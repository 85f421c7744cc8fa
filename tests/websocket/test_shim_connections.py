"""How many connections a client has: each is paid by the minute, and `samsa cost` counts them."""

from collections.abc import Callable
from contextlib import closing

import pytest
from confluent_kafka import Consumer, Producer
from support.fake_gateway import FakeGateway
from support.waiting import eventually

from samsa_broker.cost.load import PER_CONSUMER, PER_PRODUCER


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
