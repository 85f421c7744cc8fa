"""What a commit leaves for readers: bytes in the head or the index, and offsets that it guessed."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pipeline.given import Given, Opened, partition_of
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes

from pyspark_samsa import reader, splits, stream
from pyspark_samsa.errors import DataLoss
from pyspark_samsa.options import read_options
from pyspark_samsa.splits import ByteRun, Split
from samsa.log.core import Log
from samsa.log.merge import RoundBudget
from samsa.log.stores import Limits
from samsa.ports.bounds import INLINE_BYTES
from samsa.records import Codec, Record, build

Rows = list[tuple[int, int, bytes]]
"""Partition, offset and value."""
SMALL, LARGE = 100, 2 * INLINE_BYTES
RECORDS = 4
"""Of one commit, in two batches."""


def a_value(commit: int, record: int, size: int) -> bytes:
    return b"%d %d " % (commit, record) + b"x" * size


def a_commit(number: int, size: int) -> list[bytes]:
    """Each batch begins with offset 0, as clients send them."""
    written = [Record(n % 2, 1_000 * number + n, None, a_value(number, n, size)) for n in range(4)]
    return [build(written[:2]), build(written[2:], codec=Codec.LZ4)]


def rows_of(sizes: list[int], partition: int = 0) -> Rows:
    """Of one commit after the other, from offset 0 on."""
    values = [a_value(n, record, size) for n, size in enumerate(sizes) for record in range(RECORDS)]
    return [(partition, offset, value) for offset, value in enumerate(values)]


def collected(frame: DataFrame) -> Rows:
    found = frame.select("partition", "offset", "value").collect()
    return sorted((row.partition, row.offset, bytes(row.value)) for row in found)


def test_rows_have_the_offsets_that_the_commits_decided(log: Given, table: Callable[..., Any]):
    """Two writers in turn, each of which appends small and large ones."""
    name, sizes = log.topic(), [SMALL, SMALL, LARGE, LARGE] * 3
    log.fill_by_two(name, 0, [a_commit(number, size) for number, size in enumerate(sizes)])
    shifted = [extent for extent in log.extents(name, 0) if extent.shift]
    assert {bool(extent.key) for extent in shifted} == ({True} if is_local(log) else {True, False})
    expected = rows_of(sizes)
    assert collected(table(log, subscribe=name)) == expected
    some = {"startingOffsets": f'{{"{name}": {{"0": 15}}}}'}
    assert collected(table(log, subscribe=name, **some)) == expected[15:]
    later = table(log, subscribe=name, startingTimestamp="9002")
    assert collected(later) == expected[9 * RECORDS + 2 :]


def is_local(log: Given) -> bool:
    return log.ledger.startswith("sqlite:")


def test_partitions_that_share_an_object_are_read_each_with_its_own(
    aws_log: Given, table: Callable[..., Any]
):
    name, sizes = aws_log.topic(6), [LARGE, 2 * LARGE] * 3
    aws_log.fill_together(name, [a_commit(0, size) for size in sizes])
    found = [extent for number in range(6) for extent in aws_log.extents(name, number)]
    assert len({extent.key for extent in found}) < 6
    expected = [row for number, size in enumerate(sizes) for row in rows_of([size], number)]
    assert collected(table(aws_log, subscribe=name)) == expected


def test_what_is_in_a_head_is_a_table_and_a_stream(
    aws_log: Given, table: Callable[..., Any], spark: SparkSession, checkpoint: str
):
    name, sizes = aws_log.topic(), [SMALL] * 2
    aws_log.fill_by_two(name, 0, [a_commit(number, SMALL) for number in range(2)])
    in_head = aws_log.tail(name, 0)
    assert [bool(entry.data) for entry in in_head] == [True, True]
    assert in_head == aws_log.extents(name, 0)
    assert collected(table(aws_log, subscribe=name)) == rows_of(sizes)
    batches: list[Rows] = []

    def read_now() -> Rows:
        """What is new for the stream."""
        given = {**aws_log.options, "subscribe": name, "startingOffsets": "earliest"}
        query = (
            spark.readStream.format("samsa")
            .options(**given)
            .load()
            .writeStream.foreachBatch(lambda rows, _: batches.append(collected(rows)))
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return batches.pop()

    assert read_now() == rows_of(sizes)
    aws_log.settle(name, 0)
    assert aws_log.tail(name, 0) == []
    aws_log.append(name, 0, *a_commit(2, SMALL))
    assert len(aws_log.tail(name, 0)) == 1
    assert read_now() == rows_of([SMALL] * 3)[2 * RECORDS :]
    assert collected(table(aws_log, subscribe=name)) == rows_of([SMALL] * 3)


# As Spark does it, without Spark


class Reading:
    """A table: it is planned in the driver and read in an executor."""

    def __init__(self, log: Given, **options: str) -> None:
        self._reader = reader.SamsaReader(read_options({**log.options, **options}, streaming=False))
        self.splits = [split for split in self._reader.partitions() if isinstance(split, Split)]

    @property
    def runs(self) -> list[ByteRun]:
        return [run for split in self.splits for run in split.runs]

    def rows(self) -> Rows:
        found: Rows = []
        for split in self.splits:
            executor, task = pickle.loads(pickle.dumps((self._reader, split)))
            for batch in executor.read(task):
                found += [(r["partition"], r["offset"], r["value"]) for r in batch.to_pylist()]
        return found


def merge(log: Given, name: str) -> None:
    """And delete all that was merged at once, whoever still reads it."""

    async def merge(opened: Opened) -> None:
        partition = await partition_of(opened, name, 0)
        old = [extent.key for extent in await opened.stores.ledger.extents(partition, 0, 1_000)]
        stores = replace(opened.stores, limits=Limits(merge_after_ms=0))
        assert (await Log(stores).merger.merge(partition, RoundBudget(10_000_000, 100))).runs
        await opened.stores.objects.delete([key for key in old if key])

    log.do(merge)


def test_a_plan_finds_what_was_merged_after_it_was_made(log: Given):
    name, sizes = log.topic(), [SMALL, LARGE, LARGE, SMALL, LARGE, LARGE, SMALL, SMALL]
    log.fill_by_two(name, 0, [a_commit(number, size) for number, size in enumerate(sizes)])
    before = Reading(log, subscribe=name)
    assert any(run.stored.shift for run in before.runs)
    log.settle(name, 0)
    merge(log, name)
    (segment,) = log.extents(name, 0)
    assert segment.shift == 0
    assert before.rows() == Reading(log, subscribe=name).rows() == rows_of(sizes)


@pytest.fixture
def two_small(aws_log: Given) -> str:
    """Two partitions of ten small commits each, which are all in the ledger."""
    name = aws_log.topic(2)
    for number in range(2):
        aws_log.fill_by_two(name, number, [a_commit(n, SMALL) for n in range(10)])
    assert all(extent.data for number in range(2) for extent in aws_log.extents(name, number))
    return name


def inline(runs: list[ByteRun]) -> int:
    return sum(len(run.stored.data) for run in runs)


@pytest.mark.parametrize("most", [0, 2_000, 100_000])
def test_a_plan_has_no_more_of_the_ledger_s_bytes_than_it_may(
    aws_log: Given, two_small: str, monkeypatch: pytest.MonkeyPatch, most: int
):
    """What it leaves there is asked for in one piece of each partition."""
    monkeypatch.setattr(reader, "PLANNED_BYTES", most)
    reading = Reading(aws_log, subscribe=two_small)
    there = sum(e.size for number in range(2) for e in aws_log.extents(two_small, number))
    assert min(most, there) - INLINE_BYTES < inline(reading.runs) <= most
    left = [run for run in reading.runs if run.is_left_in_ledger]
    assert inline(reading.runs) + sum(run.stored.length for run in left) == there
    assert len(left) == (0 if most > there else 2)
    assert reading.rows() == rows_of([SMALL] * 10) + rows_of([SMALL] * 10, partition=1)
    some = {"startingOffsets": f'{{"{two_small}": {{"0": 5, "1": 38}}}}'}
    assert Reading(aws_log, subscribe=two_small, **some).rows() == [
        *rows_of([SMALL] * 10)[5:],
        *rows_of([SMALL] * 10, partition=1)[38:],
    ]


def test_a_task_has_no_more_of_the_ledger_s_bytes_than_it_may(
    aws_log: Given, two_small: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(splits, "TASK_BYTES", 2_000)
    reading = Reading(aws_log, subscribe=two_small)
    sizes = [inline(list(split.runs)) for split in reading.splits]
    assert 1_000 < max(sizes) <= 2_000
    assert reading.rows() == rows_of([SMALL] * 10) + rows_of([SMALL] * 10, partition=1)


def test_what_is_left_in_the_ledger_and_trimmed_there_is_a_loss(
    aws_log: Given, two_small: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reader, "PLANNED_BYTES", 0)
    strict = Reading(aws_log, subscribe=two_small)
    lenient = Reading(aws_log, subscribe=two_small, failOnDataLoss="false")
    aws_log.settle(two_small, 0)
    aws_log.trim(two_small, 0, 8)
    with pytest.raises(DataLoss, match="offset 0 is gone"):
        strict.rows()
    expected = rows_of([SMALL] * 10)[8:] + rows_of([SMALL] * 10, partition=1)
    assert lenient.rows() == expected


def test_a_stream_plans_no_more_of_the_ledger_s_bytes_than_it_may(
    aws_log: Given, two_small: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stream, "PLANNED_BYTES", 2_000)
    given = {**aws_log.options, "subscribe": two_small, "startingOffsets": "earliest"}
    reading = stream.SamsaStreamReader(read_options(given, streaming=True))
    begin = reading.initialOffset()
    end = reading.latestOffset(begin, ReadAllAvailable())
    assert end == reading.latestOffset(begin, ReadMaxBytes(100_000))
    found = [one for one in reading.partitions({}, end) if isinstance(one, Split)]
    assert 0 < inline([run for split in found for run in split.runs]) <= 2_000
    executor = pickle.loads(pickle.dumps(reading))
    read = [
        r["offset"] for split in found for batch in executor.read(split) for r in batch.to_pylist()
    ]
    assert sorted(read) == sorted([*range(10 * RECORDS)] * 2)
    reading.stop()
