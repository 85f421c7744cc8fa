"""Real clients on their defaults, through the shim and API Gateway's limits, to a real broker."""

from collections.abc import Callable
from contextlib import closing

import pytest
from clients.client import Record
from clients.registry import MAKERS
from clients.samples import SAMPLES
from confluent_kafka import Consumer, Producer, TopicPartition
from support.fake_gateway import FakeGateway

from samsa.envelope import Upload

IN_PYTHON = ["confluent", "kafka-python", "aiokafka"]
LARGE = 900_000


@pytest.fixture(params=IN_PYTHON)
def client(request, dialled: Callable[..., str], tmp_path):
    with closing(MAKERS[request.param](dialled(), tmp_path / "log")) as made:
        yield made


def test_what_a_client_wrote_comes_back_to_it(client):
    records = list(SAMPLES)
    offsets = client.produce("letters", records, partition=0)
    assert offsets == list(range(len(records)))
    found = client.consume("letters", "earliest", len(records), partition=0)
    assert [each.content for each in found] == [each.content for each in records]


def test_a_client_is_sent_back_to_the_address_that_it_used(dialled, tmp_path):
    bootstrap = dialled()
    with closing(MAKERS["confluent"](bootstrap, tmp_path / "log")) as client:
        assert client.describe().brokers == [bootstrap]


def test_messages_larger_than_the_door_go_around_it_both_ways(client, gateway: FakeGateway):
    records = [Record(b"%d" % n, bytes([n]) * LARGE) for n in range(3)]
    client.produce("parcels", records, partition=0)
    found = client.consume("parcels", "earliest", len(records), partition=0)
    assert [each.content for each in found] == [each.content for each in records]
    uploads = [each for each in gateway.messages if isinstance(each, Upload)]
    assert sum(each.size for each in uploads) > 3 * LARGE
    fetched = sum(length for _, _, length in gateway.function.store.gets)
    assert fetched >= 3 * LARGE
    assert gateway.function.frame_bytes < LARGE


def test_a_group_of_two_shares_a_topic_and_remembers_where_it_was(dialled):
    bootstrap = dialled()
    admin = MAKERS["confluent"](bootstrap, None)
    admin.create_topic("shared", 4, {})
    producer = Producer({"bootstrap.servers": bootstrap})
    for n in range(100):
        producer.produce("shared", b"%d" % n, partition=n % 4)
    assert producer.flush(20) == 0
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "readers",
        "auto.offset.reset": "earliest",
    }
    consumers = [Consumer(settings) for _ in range(2)]
    seen: dict[int, set[tuple[int, int]]] = {0: set(), 1: set()}
    for consumer in consumers:
        consumer.subscribe(["shared"])
    for _ in range(400):
        for number, consumer in enumerate(consumers):
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                seen[number].add((message.partition(), message.offset()))
        shared = [len(consumer.assignment()) for consumer in consumers] == [2, 2]
        if len(seen[0] | seen[1]) == 100 and shared:
            break
    assert len(seen[0] | seen[1]) == 100
    assert [len(consumer.assignment()) for consumer in consumers] == [2, 2]
    for consumer in consumers:
        consumer.close()
    later = Consumer(settings)
    asked = [TopicPartition("shared", number) for number in range(4)]
    assert [each.offset for each in later.committed(asked, timeout=20)] == [25] * 4
    later.close()
