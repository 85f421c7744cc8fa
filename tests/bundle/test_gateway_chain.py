"""The whole chain: Kafka clients, shim, local API Gateway, the function in processes that freeze;
on DynamoDB Local and a real S3 server, and on the embedded stores."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.chain import EMBEDDED, Chain, a_chain

from samsa_websocket.pushes.connections import ConnectionsApi, Gone

SECONDS = 60


@pytest.fixture(params=["servers", "embedded"])
def chain(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Chain]:
    is_embedded = request.param == "embedded"
    environment = EMBEDDED if is_embedded else request.getfixturevalue("environment")
    with a_chain(tmp_path, environment) as running:
        yield running


@pytest.fixture
def topic(chain: Chain) -> str:
    name = f"letters-{uuid4()}"
    admin = AdminClient({"bootstrap.servers": chain.bootstrap})
    for made in admin.create_topics([NewTopic(name, 2)], request_timeout=SECONDS).values():
        made.result(SECONDS)
    return name


def produce(chain: Chain, topic: str, values: list[bytes], **settings: Any) -> None:
    failed: list[Any] = []
    producer = Producer({"bootstrap.servers": chain.bootstrap, **settings})
    for number, value in enumerate(values):
        producer.produce(
            topic, value, partition=number % 2, on_delivery=lambda e, _: e and failed.append(e)
        )
    assert producer.flush(SECONDS) == 0
    assert not failed


def consumer(chain: Chain, group: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": chain.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "fetch.max.bytes": 60_000_000,
        }
    )


def consume(reader: Consumer, count: int) -> list[bytes]:
    found: list[bytes] = []
    deadline = time.monotonic() + SECONDS
    while len(found) < count and time.monotonic() < deadline:
        message = reader.poll(1.0)
        if message is not None and not message.error():
            found.append(message.value())
    return found


def test_a_group_reads_what_an_idempotent_producer_wrote(chain: Chain, topic: str):
    values = [b"%d" % number for number in range(200)]
    produce(chain, topic, values, **{"enable.idempotence": True})
    reader = consumer(chain, "family")
    reader.subscribe([topic])
    assert sorted(consume(reader, len(values))) == sorted(values)
    reader.commit(asynchronous=False)
    committed = reader.committed([TopicPartition(topic, 0), TopicPartition(topic, 1)], SECONDS)
    assert sum(each.offset for each in committed) == len(values)
    reader.close()


def test_large_values_pass_by_the_function(chain: Chain, topic: str):
    values = [os.urandom(900_000) for _ in range(6)]
    before = chain.stats()
    produce(chain, topic, values)
    reader = consumer(chain, "large")
    reader.assign([TopicPartition(topic, number, 0) for number in range(2)])
    assert sorted(consume(reader, len(values))) == sorted(values)
    reader.close()
    after = chain.stats()
    for way in ("bytes_in", "bytes_out"):
        assert after[way] - before[way] < 900_000


async def test_who_is_not_there_is_gone(chain: Chain):
    """moto does not know the 410, so that it is asked of the local API Gateway."""
    connections = ConnectionsApi(f"{chain.root}/local", "us-east-1")
    with pytest.raises(Gone):
        await connections.post("bm9ib2R5", "1 ping 0")
    await connections.close()


def test_an_idle_consumer_sends_nothing_and_is_woken(chain: Chain, topic: str):
    reader = consumer(chain, "idle")
    reader.assign([TopicPartition(topic, number, 0) for number in range(2)])
    assert reader.poll(3) is None
    before = chain.stats()
    assert reader.poll(5) is None
    idle = chain.stats()
    assert idle["messages_in"] - before["messages_in"] <= 1
    produce(chain, topic, [b"wake up"])
    started = time.monotonic()
    assert consume(reader, 1) == [b"wake up"]
    assert time.monotonic() - started < 2
    assert chain.stats()["pushed"] > before["pushed"]
    reader.close()
