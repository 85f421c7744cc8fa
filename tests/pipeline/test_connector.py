"""The same topics through Spark's own Kafka connector and `samsa up`: the same rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pipeline.given import Given
from pyspark.sql import DataFrame, SparkSession
from support.broker import Broker, samsa_up

COLUMNS = ["topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers"]
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, Given]]:
    folder = tmp_path_factory.mktemp("served")
    with samsa_up(folder) as broker:
        fill(broker)
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


def rows(frame: DataFrame) -> list[Any]:
    return frame.select(*COLUMNS).orderBy("topic", "partition", "offset").collect()


@pytest.mark.parametrize(
    "options",
    [
        {"subscribe": "plain,by-log"},
        {"subscribePattern": "p.*"},
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
