"""The same topics through Spark's own Kafka connector and `samsa up`: the same rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pipeline.given import Given
from pyspark.sql import DataFrame, SparkSession
from server.message_sets import message_set
from support.broker import Broker, samsa_up

from samsa.records import Codec
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import produce
from samsa_broker.cli.client import Client

COLUMNS = ["topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers"]
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
OLD = {0: 1, 1: 2}
"""Magic of a message set, and the last version of Produce that carries it."""
OLD_CODECS = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, Given]]:
    folder = tmp_path_factory.mktemp("served")
    with samsa_up(folder) as broker:
        fill(broker)
        fill_as_of_old(broker)
        make_the_brokers_own_topic(broker)
        yield broker, stored(folder)


def stored(folder: Path) -> Given:
    return Given(f"sqlite://{folder}/data/ledger.db", f"file://{folder}/data/objects")


def fill(broker: Broker) -> None:
    servers = {"bootstrap.servers": broker.bootstrap}
    by_log = {"message.timestamp.type": "LogAppendTime"}
    topics = [NewTopic("plain", 3), NewTopic("by-log", 1, config=by_log)]
    admin = AdminClient(servers)
    for done in admin.create_topics(topics).values():
        done.result(60)
    for codec in CODECS:
        producer = Producer({**servers, "compression.type": codec, "linger.ms": 50})
        for number in range(200):
            producer.produce(
                ("plain", "by-log")[number % 10 == 0],
                key=None if number % 7 == 0 else b"%s-%d" % (codec.encode(), number),
                value=None if number % 11 == 0 else b"v%d" % number * (number + 1),
                headers=[("n", b"%d" % number), ("n", None)] if number % 3 == 0 else None,
                timestamp=1_600_000_000_000 + number * 1_000,
            )
        assert producer.flush(60) == 0


def fill_as_of_old(broker: Broker) -> None:
    """As clients before 0.11 wrote: message sets of magic 0 and 1, compressed ones too."""
    client = Client(broker.bootstrap)
    client.topic("old", create=True)
    pairs = [(b"k%d" % n, b"value %d " % n * n) for n in range(9)] + [(None, b"x"), (b"k", None)]
    for magic, version in OLD.items():
        for codec in OLD_CODECS:
            data = produce.PARTITION(index=0, records=message_set(magic, pairs, codec, 1_000))
            topic = produce.TOPIC(name="old", partition_data=[data])
            row = produce.REQUEST(acks=1, timeout_ms=30_000, topic_data=[topic])
            answer = client.ask(ApiKey.PRODUCE, row, at_most=version)
            (done,) = answer.responses[0].partition_responses
            assert done.error_code == ErrorCode.NONE


def make_the_brokers_own_topic(broker: Broker) -> None:
    """Which a pattern does not mean: it is made when somebody first asks for a group."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "somebody"})
    consumer.committed([TopicPartition("plain", 0)], timeout=60)
    assert "__consumer_offsets" in consumer.list_topics(timeout=60).topics
    consumer.close()


def rows(frame: DataFrame) -> list[Any]:
    return frame.select(*COLUMNS).orderBy("topic", "partition", "offset").collect()


@pytest.mark.parametrize(
    "options",
    [
        {"subscribe": "plain,by-log"},
        {"subscribePattern": "p.*"},
        {"subscribePattern": "old|__.*"},
        {"assign": '{"plain": [0, 2]}'},
        {
            "assign": '{"plain": [0, 1]}',
            "startingOffsets": '{"plain": {"0": 5, "1": -2}}',
            "endingOffsets": '{"plain": {"0": -1, "1": 9}}',
        },
        {"subscribe": "plain", "startingTimestamp": "1600000050000"},
        {
            "subscribe": "plain",
            "startingTimestamp": "1600000020000",
            "endingTimestamp": "1600000150000",
        },
    ],
)
def test_spark_s_own_connector_gives_the_same_rows(
    served: tuple[Broker, Given], spark: SparkSession, options: dict[str, str]
):
    broker, log = served
    common = {**options, "includeHeaders": "true"}
    kafka = spark.read.format("kafka").options(
        **common, **{"kafka.bootstrap.servers": broker.bootstrap}
    )
    samsa = spark.read.format("samsa").options(**common, **log.options)
    expected = rows(kafka.load())
    assert len(expected) > 10
    assert rows(samsa.load()) == expected
    assert samsa.load().schema == kafka.load().schema


def test_a_running_broker_s_last_word_is_read(served: tuple[Broker, Given], spark: SparkSession):
    broker, log = served
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0})
    table = spark.read.format("samsa").options(**log.options, subscribe="last-words")
    for number in range(3):
        producer.produce("last-words", b"%d" % number)
        assert producer.flush(60) == 0
        assert table.load().count() == number + 1
