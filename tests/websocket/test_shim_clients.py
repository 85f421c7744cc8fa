"""Real clients on their defaults, through the shim and API Gateway's limits, to a real broker."""

import asyncio
import time
from collections.abc import Callable
from contextlib import closing

import aiokafka
import kafka
import pytest
from clients.client import Record
from clients.registry import MAKERS
from clients.samples import SAMPLES
from confluent_kafka import Consumer, Producer, TopicPartition
from support.fake_gateway import FakeGateway

from samsa.wire.apis import ApiKey
from samsa_websocket.envelope import Upload

IN_PYTHON = ["confluent", "kafka-python", "aiokafka"]
LARGE = 900_000
TOPICS = ["one", "two"]


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


def test_messages_larger_than_the_gateway_takes_go_by_the_store_both_ways(
    client, gateway: FakeGateway
):
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


def confluent_idles(bootstrap: str, seconds: float) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "none"})
    consumer.assign([TopicPartition(topic, n, 0) for topic in TOPICS for n in range(3)])
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert consumer.poll(0.1) is None
    consumer.close()


def kafka_python_idles(bootstrap: str, seconds: float) -> None:
    consumer = kafka.KafkaConsumer(bootstrap_servers=bootstrap)
    consumer.assign([kafka.TopicPartition(topic, n) for topic in TOPICS for n in range(3)])
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert not consumer.poll(timeout_ms=100)
    consumer.close()


def aiokafka_idles(bootstrap: str, seconds: float) -> None:
    async def idle() -> None:
        async with aiokafka.AIOKafkaConsumer(*TOPICS, bootstrap_servers=bootstrap) as consumer:
            assert not await consumer.getmany(timeout_ms=int(seconds * 1000))

    asyncio.run(idle())


@pytest.mark.parametrize("idles", [confluent_idles, kafka_python_idles, aiokafka_idles])
def test_a_client_with_nothing_to_read_sends_its_fetch_once(dialled, gateway, idles):
    """Though it may name its partitions in another order each time."""
    bootstrap = dialled()
    admin = MAKERS["confluent"](bootstrap, None)
    for topic in TOPICS:
        admin.create_topic(topic, 3, {})
    idles(bootstrap, 4)
    assert 1 <= gateway.api_keys().count(ApiKey.FETCH) <= 2
