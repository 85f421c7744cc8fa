"""Rows to topics, in a real Spark: tables, streams, failures, restarts, and clients that read."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pipeline.given import Given, a_batch, row_values
from pipeline.sinking import left_over
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery
from support.broker import samsa_up
from support.waiting import eventually

from pyspark_samsa.sink.turns import NAMELESS, PLAN, Turn

Table = Callable[..., DataFrame]
LONG_S = 120
EVERYTHING = """
    cast(id as string) as key,
    if(id % 5 = 0, null, cast(concat('v', id) as binary)) as value,
    if(id % 3 = 0, cast(id % 4 as int), null) as partition,
    array(struct('n' as key, cast(cast(id as string) as binary) as value)) as headers
"""


def write(frame: DataFrame, log: Given, **options: Any) -> None:
    frame.write.format("samsa").options(**log.options, **options).mode("append").save()


def test_a_table_becomes_a_topic(log: Given, table: Table, spark: SparkSession):
    name = log.topic(4)
    frame = spark.range(100).selectExpr(*EVERYTHING.split(",\n"))
    write(frame, log, topic=name, **{"kafka.compression.type": "zstd"})
    found = table(log, subscribe=name, includeHeaders="true").collect()
    assert sorted(
        (int(bytes(row.key)), row.value and bytes(row.value), bytes(row.headers[0].value))
        for row in found
    ) == [(n, None if n % 5 == 0 else b"v%d" % n, b"%d" % n) for n in range(100)]
    assert all(row.partition == int(row.key) % 4 for row in found if int(row.key) % 3 == 0)
    assert nameless(log) == []


def nameless(log: Given) -> list[str]:
    return [key for key in left_over(log) if key.startswith(NAMELESS)]


def test_nothing_is_seen_of_a_job_that_fails(
    local_log: Given, table: Table, spark: SparkSession, tmp_path: Path
):
    name = local_log.topic(2)
    frame = spark.range(0, 10_000, 1, 4).selectExpr("cast(id as string) as value", "id")
    failing = failing_once(frame, tmp_path / "failed")
    with pytest.raises(PySparkException, match="on purpose"):
        write(failing.select("value"), local_log, topic=name)
    assert table(local_log, subscribe=name).count() == 0
    write(failing.select("value"), local_log, topic=name)
    assert table(local_log, subscribe=name).count() == 10_000


def failing_once(frame: DataFrame, mark: Path) -> DataFrame:
    """The task that comes to the last row fails, the first time, after all others are written."""

    def rows(batches: Any) -> Any:
        for batch in batches:
            yield batch
            if 9_999 in batch.column("id").to_pylist() and not mark.exists():
                mark.touch()
                raise RuntimeError("on purpose")

    return frame.mapInArrow(rows, frame.schema)


def test_a_named_write_is_written_once(local_log: Given, table: Table, spark: SparkSession):
    """As in foreachBatch, whose batches come again after a restart."""
    name = local_log.topic(2)
    for version, word in [(0, "a"), (0, "again"), (1, "b"), (0, "late")]:
        frame = spark.createDataFrame([(word,)], "value string")
        write(frame, local_log, topic=name, txnAppId="an/app", txnVersion=version)
    found = [value for *_, value in row_values(table(local_log, subscribe=name).collect())]
    assert sorted(found) == [b"a", b"b"]


def test_each_batch_of_a_stream_goes_to_two_topics_under_one_name(
    local_log: Given, table: Table, spark: SparkSession, tmp_path: Path
):
    source, first, second = local_log.topic(), local_log.topic(2), local_log.topic(2)
    local_log.append(source, 0, a_batch(*numbered(0, 20)))

    def to_both(batch: DataFrame, version: int) -> None:
        for target in (first, second):
            named = {"txnAppId": "two targets", "txnVersion": version}
            write(batch.select("value"), local_log, topic=target, **named)

    frame = spark.readStream.format("samsa").options(
        **local_log.options, subscribe=source, startingOffsets="earliest"
    )
    writer = frame.load().writeStream.foreachBatch(to_both).trigger(availableNow=True)
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    for target in (first, second):
        assert values(table(local_log, subscribe=target)) == sorted(numbered(0, 20))


def test_a_log_is_not_overwritten(local_log: Given, spark: SparkSession):
    frame = spark.createDataFrame([("v",)], "value string")
    with pytest.raises(PySparkException, match="only grows"):
        frame.write.format("samsa").options(**local_log.options, topic="t").mode("overwrite").save()


@pytest.fixture
def copied(spark: SparkSession) -> Callable[..., StreamingQuery]:
    """A stream from topic to topic, of what is there now."""

    def start(
        log: Given, source: str, target: str, checkpoint: str, change: Any = None
    ) -> StreamingQuery:
        read = {"subscribe": source, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "300"}
        frame = spark.readStream.format("samsa").options(**log.options, **read).load()
        frame = frame.selectExpr("value", "offset as id")
        frame = frame if change is None else change(frame)
        return (
            frame.select("value")
            .writeStream.format("samsa")
            .options(**log.options, topic=target, checkpointLocation=checkpoint)
            .trigger(availableNow=True)
            .start()
        )

    return start


def values(frame: DataFrame) -> list[bytes]:
    return sorted(bytes(row.value) for row in frame.collect())


def numbered(first: int, end: int) -> list[bytes]:
    return [b"%d" % n for n in range(first, end)]


def test_a_stream_is_written_once_though_tasks_fail_and_commits_are_forgotten(
    log: Given, table: Table, copied: Callable[..., StreamingQuery], tmp_path: Path
):
    source, target, checkpoint = log.topic(), log.topic(2), tmp_path / "checkpoint"
    log.append(source, 0, a_batch(*numbered(0, 500)))
    mark = tmp_path / "failed"

    def change(frame: DataFrame) -> DataFrame:
        return failing_at(frame, 450, mark)

    with pytest.raises(PySparkException, match="on purpose"):
        copied(log, source, target, str(checkpoint), change).awaitTermination()
    assert values(table(log, subscribe=target)) == sorted(numbered(0, 300))
    copied(log, source, target, str(checkpoint), change).awaitTermination()
    assert values(table(log, subscribe=target)) == sorted(numbered(0, 500))

    # The driver was killed after it had published the last batch, and before it wrote that down.
    for name in ("1", ".1.crc"):
        (checkpoint / "commits" / name).unlink()
    log.append(source, 0, a_batch(*numbered(500, 600)))
    query = copied(log, source, target, str(checkpoint))
    query.awaitTermination()
    assert (checkpoint / "commits" / "2").exists()
    assert values(table(log, subscribe=target)) == sorted(numbered(0, 600))
    assert len([key for key in left_over(log) if query.id in key]) == 2


def failing_at(frame: DataFrame, row: int, mark: Path) -> DataFrame:
    def rows(batches: Any) -> Any:
        for batch in batches:
            yield batch
            if row in batch.column("id").to_pylist() and not mark.exists():
                mark.touch()
                raise RuntimeError("on purpose")

    return frame.mapInArrow(rows, frame.schema)


def test_a_driver_is_killed_and_another_query_writes_to_the_same_topic(
    local_log: Given, table: Table, copied: Callable[..., StreamingQuery], tmp_path: Path
):
    """By SIGKILL, in the middle of things; and the query is started again from its checkpoint."""
    first, second, target = local_log.topic(), local_log.topic(), local_log.topic(2)
    local_log.append(first, 0, a_batch(*numbered(0, 400)))
    local_log.append(second, 0, a_batch(*numbered(400, 700)))
    checkpoint = tmp_path / first
    with killed_at_its_end([*local_log.options.values(), first, target, str(checkpoint)]):
        assert eventually(lambda: has_planned(local_log, checkpoint, 1), LONG_S)
    written = values(table(local_log, subscribe=target))
    assert 20 <= len(written) < 400
    copied(local_log, second, target, str(tmp_path / second)).awaitTermination()
    copied(local_log, first, target, str(checkpoint)).awaitTermination()
    assert values(table(local_log, subscribe=target)) == sorted(numbered(0, 700))


@contextmanager
def killed_at_its_end(arguments: list[str]) -> Iterator[None]:
    """A driver, its JVM and its workers, in a group of their own."""
    command = [sys.executable, str(Path(__file__).with_name("copying_driver.py")), *arguments]
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command, start_new_session=True, env={**os.environ, "PYTHONPATH": path}
    )
    try:
        yield
        assert process.poll() is None, "it ended by itself"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def has_planned(log: Given, checkpoint: Path, number: int) -> bool:
    metadata = checkpoint / "metadata"
    if not metadata.exists() or not metadata.read_text():
        return False
    turn = Turn(json.loads(metadata.read_text())["id"], number)
    # The folder itself: whoever opens the ledger is in the driver's way.
    plans = Path(urlsplit(log.objects).path, turn.folder).glob(f"*/{PLAN}")
    return any(int(plan.parent.name) >= number for plan in plans)


def test_a_broker_s_clients_see_what_spark_writes_and_its_keys_go_where_java_s_go(
    spark: SparkSession, tmp_path: Path
):
    """The consumer waits for five minutes before the broker would answer it with nothing: it gets
    the rows because the sink wakes the broker."""
    keys = [*(f"key {n}" for n in range(300)), "", "é", "\u65e5\u672c"]
    frame = spark.createDataFrame([(key, f"v {key}") for key in keys], "key string, value string")
    with samsa_up(tmp_path) as broker:
        servers = {"bootstrap.servers": broker.bootstrap}
        admin = AdminClient(servers)
        for done in admin.create_topics([NewTopic("java", 7), NewTopic("samsa", 7)]).values():
            done.result(60)
        kafka = frame.write.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap)
        kafka.option("topic", "java").save()
        waiting = Consumer(
            {**servers, "group.id": "g", "fetch.wait.max.ms": 300_000, "socket.timeout.ms": 300_000}
        )
        waiting.assign([TopicPartition("samsa", number, 0) for number in range(7)])
        assert waiting.poll(1) is None
        log = Given(f"sqlite://{tmp_path}/data/ledger.db", f"file://{tmp_path}/data/objects")
        write(frame, log, topic="samsa")
        by_samsa = consumed(waiting, len(keys))
        reading = Consumer({**servers, "group.id": "h"})
        reading.assign([TopicPartition("java", number, 0) for number in range(7)])
        assert by_samsa == consumed(reading, len(keys))


def consumed(consumer: Consumer, count: int) -> list[tuple[bytes, bytes, int]]:
    found = []
    while len(found) < count:
        message = consumer.poll(LONG_S)
        assert message is not None, f"only {len(found)} of {count} came"
        assert message.error() is None
        found.append((message.key(), message.value(), message.partition()))
    consumer.close()
    return sorted(found)
