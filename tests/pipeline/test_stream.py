"""Topics as streams, in a real Spark: checkpoints, limits, failures, topics that change."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from pipeline.given import Given, a_batch
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery
from support.waiting import eventually

Batches = list[list[tuple[int, int]]]
LONG_S = 120


@pytest.fixture
def stream(spark: SparkSession) -> Callable[..., DataFrame]:
    def stream(log: Given, **options: Any) -> DataFrame:
        given = {**log.options, "startingOffsets": "earliest", **options}
        return spark.readStream.format("samsa").options(**given).load()

    return stream


def into(batches: Batches, fail_at: int = -1) -> Callable[[DataFrame, int], None]:
    """Keeps partition and offset of every row of every batch, in the order of the batches."""

    def keep(rows: DataFrame, number: int) -> None:
        found = rows.select("partition", "offset").collect()
        batches.append(sorted((row.partition, row.offset) for row in found))
        if number == fail_at:
            raise RuntimeError("on purpose")

    return keep


def read_now(frame: DataFrame, checkpoint: str, fail_at: int = -1) -> Batches:
    """What is available now, batch by batch."""
    batches: Batches = []
    query = (
        frame.writeStream.foreachBatch(into(batches, fail_at))
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        if "on purpose" not in str(error):
            raise
    return batches


def flat(batches: Batches) -> list[tuple[int, int]]:
    return list(chain.from_iterable(batches))


def offsets(*found: int, partition: int = 0) -> list[tuple[int, int]]:
    return [(partition, offset) for offset in found]


def test_a_stream_stops_and_goes_on_from_its_checkpoint(
    log: Given, stream: Callable[..., DataFrame], checkpoint: str
):
    name = log.topic(2)
    log.fill({(name, 0): [a_batch(b"a")] * 3, (name, 1): [a_batch(b"b")] * 2})
    limited = {"subscribe": name, "maxOffsetsPerTrigger": "2"}
    first = read_now(stream(log, **limited), checkpoint)
    assert [len(batch) for batch in first] == [2, 2, 1]
    assert sorted(flat(first)) == [*offsets(0, 1, 2), *offsets(0, 1, partition=1)]
    log.append(name, 1, a_batch(b"c", b"d"))
    log.compacted(name, 0, 3)
    log.append(name, 0, a_batch(b"e"))
    log.grow(name, 3)
    log.append(name, 2, a_batch(b"f"))
    later = read_now(stream(log, subscribe=name), checkpoint)
    assert sorted(flat(later)) == [
        *offsets(6),
        *offsets(2, 3, partition=1),
        *offsets(0, partition=2),
    ]
    assert read_now(stream(log, subscribe=name), checkpoint) == []


def test_a_batch_that_failed_is_the_same_batch_again(
    local_log: Given, stream: Callable[..., DataFrame], checkpoint: str
):
    name = local_log.topic()
    local_log.fill({(name, 0): [a_batch(b"a")] * 4})
    limited = {"subscribe": name, "maxOffsetsPerTrigger": "2"}
    before = read_now(stream(local_log, **limited), checkpoint, fail_at=1)
    assert before == [offsets(0, 1), offsets(2, 3)]
    local_log.append(name, 0, a_batch(b"more"))
    after = read_now(stream(local_log, **limited), checkpoint)
    assert after == [offsets(2, 3), offsets(4)]


def running(frame: DataFrame, batches: Batches, checkpoint: str) -> StreamingQuery:
    return (
        frame.writeStream.foreachBatch(into(batches))
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime="0 seconds")
        .start()
    )


def test_a_topic_deleted_under_a_running_query_ends_it_or_not_as_told(
    local_log: Given, stream: Callable[..., DataFrame], tmp_path: Path
):
    doomed, other = local_log.topic(), local_log.topic()
    local_log.fill({(doomed, 0): [a_batch(b"x")], (other, 0): [a_batch(b"y")] * 2})
    both = f"{doomed},{other}"
    strict: Batches = []
    lenient: Batches = []
    frames = (
        stream(local_log, subscribe=both),
        stream(local_log, subscribe=both, failOnDataLoss="false"),
    )
    ends, stays = (
        running(frame, batches, str(tmp_path / str(number)))
        for number, (frame, batches) in enumerate(zip(frames, (strict, lenient), strict=True))
    )
    try:
        for batches in (strict, lenient):
            eventually(lambda batches=batches: len(flat(batches)) == 3, LONG_S)
        local_log.delete(doomed)
        with pytest.raises(StreamingQueryException, match="the topic was deleted"):
            ends.awaitTermination(LONG_S)
        local_log.append(other, 0, a_batch(b"after"))
        eventually(lambda: (0, 2) in flat(lenient), LONG_S)
        assert stays.exception() is None
        assert sorted(flat(lenient)) == offsets(0, 0, 1, 2)
    finally:
        for query in (ends, stays):
            query.stop()


def test_what_was_trimmed_under_a_query_ends_it(
    local_log: Given, stream: Callable[..., DataFrame], checkpoint: str
):
    name = local_log.topic()
    local_log.fill({(name, 0): [a_batch(b"x")] * 4})
    limited = stream(local_log, subscribe=name, maxOffsetsPerTrigger="1")
    assert read_now(limited, checkpoint, fail_at=0) == [offsets(0)]
    local_log.trim(name, 0, 3)
    with pytest.raises(StreamingQueryException, match="failOnDataLoss=false"):
        read_now(stream(local_log, subscribe=name), checkpoint)
    tolerant = stream(local_log, subscribe=name, failOnDataLoss="false")
    assert flat(read_now(tolerant, checkpoint)) == offsets(3)


def test_a_topic_made_again_between_two_runs_ends_the_query_or_is_read_from_its_beginning(
    local_log: Given, stream: Callable[..., DataFrame], checkpoint: str
):
    name = local_log.topic()
    local_log.append(name, 0, a_batch(b"a", b"b"))
    assert flat(read_now(stream(local_log, subscribe=name), checkpoint)) == offsets(0, 1)
    local_log.delete(name)
    local_log.topic(1, name)
    local_log.append(name, 0, a_batch(b"c", b"d", b"e"))
    with pytest.raises(StreamingQueryException, match="deleted, and made again"):
        read_now(stream(local_log, subscribe=name), checkpoint)
    tolerant = stream(local_log, subscribe=name, failOnDataLoss="false")
    assert flat(read_now(tolerant, checkpoint)) == offsets(0, 1, 2)
    local_log.append(name, 0, a_batch(b"f"))
    assert flat(read_now(stream(local_log, subscribe=name), checkpoint)) == offsets(3)
