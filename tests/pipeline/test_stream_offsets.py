"""What a stream tells Spark: where it starts, how far a batch goes, and what is lost."""

import json
import pickle
from typing import Any

import pytest
from pipeline.given import TOPIC_IDS, Given, a_batch
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes, ReadMaxRows

from pyspark_samsa.errors import DataLoss, UnknownTopic
from pyspark_samsa.limits import shares
from pyspark_samsa.options import read_options
from pyspark_samsa.positions import IDS
from pyspark_samsa.stream import SamsaStreamReader
from samsa.ports import Clock

ALL = ReadAllAvailable()


def stream(log: Given, clock: Clock | None = None, **options: Any) -> SamsaStreamReader:
    given = {**log.options, "startingOffsets": "earliest", **options}
    return SamsaStreamReader(read_options(given, streaming=True), clock)


class SetClock:
    def __init__(self) -> None:
        self.now = 1_000_000

    def now_ms(self) -> int:
        return self.now


def rows(stream: SamsaStreamReader, splits: list[InputPartition]) -> list[tuple[int, int]]:
    again = pickle.loads(pickle.dumps(stream))  # as it reaches an executor
    return sorted(
        (row["partition"], row["offset"])
        for split in splits
        for batch in again.read(split)
        for row in batch.to_pylist()
    )


def of(name: str, *offsets: int) -> dict[str, dict[str, Any]]:
    """As a checkpoint has it, of the topic that has this name now."""
    return {
        name: {str(number): offset for number, offset in enumerate(offsets)},
        IDS: {name: str(TOPIC_IDS[name])},
    }


def both(*topics: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    ids = {name: text for topic in topics for name, text in topic[IDS].items()}
    return {**{name: of for topic in topics for name, of in topic.items()}, IDS: ids}


@pytest.fixture
def name(local_log: Given) -> str:
    """Two partitions with six and two records, each a commit of its own."""
    name = local_log.topic(2)
    local_log.fill({(name, 0): [a_batch(b"x" * 100)] * 6, (name, 1): [a_batch(b"y" * 100)] * 2})
    return name


def test_a_batch_is_what_lies_between_two_offsets(local_log: Given, name: str):
    reading = stream(local_log, subscribe=name)
    assert reading.initialOffset() == of(name, 0, 0)
    assert reading.latestOffset(of(name, 0, 0), ALL) == of(name, 6, 2)
    assert reading.reportLatestOffset() == of(name, 6, 2)
    found = reading.partitions(of(name, 1, 1), of(name, 3, 2))
    assert rows(reading, list(found)) == [(0, 1), (0, 2), (1, 1)]
    assert list(reading.partitions(of(name, 6, 2), of(name, 6, 2))) == []
    reading.stop()


def test_a_stream_starts_at_the_end_unless_told_otherwise(local_log: Given, name: str):
    assert stream(local_log, subscribe=name, startingOffsets="latest").initialOffset() == of(
        name, 6, 2
    )


def test_partitions_that_are_not_named_start_at_the_end_as_a_stream_does(
    local_log: Given, name: str
):
    told = json.dumps({name: {"0": 4}})
    assert stream(local_log, subscribe=name, startingOffsets=told).initialOffset() == of(name, 4, 2)


def test_nothing_new_is_the_same_offset(local_log: Given, name: str):
    reading = stream(local_log, subscribe=name)
    assert reading.latestOffset(of(name, 6, 2), ALL) == of(name, 6, 2)


@pytest.mark.parametrize(
    ("limit", "end"), [(1, (0, 1)), (2, (1, 1)), (5, (3, 2)), (8, (6, 2)), (100, (6, 2))]
)
def test_a_limit_of_rows_is_kept(local_log: Given, name: str, limit: int, end: tuple[int, int]):
    reading = stream(local_log, subscribe=name)
    assert reading.latestOffset(of(name, 0, 0), ReadMaxRows(limit)) == of(name, *end)


def test_shares_add_up_to_the_limit_and_leave_nothing_for_nobody():
    assert shares({"a": 100, "b": 1, "c": 50}, 41) == {"b": 1, "c": 20, "a": 20}
    assert sum(shares(dict.fromkeys(range(10), 7), 33).values()) == 33
    assert shares({"a": 2, "b": 3}, 100) == {"a": 2, "b": 3}


def test_a_limit_of_bytes_is_kept_and_some_progress_made(local_log: Given):
    name, large = local_log.topic(2), a_batch(b"x" * 200_000)
    size = len(large)
    local_log.append(name, 0, *[large] * 6)
    local_log.append(name, 1, *[large] * 2)
    reading = stream(local_log, subscribe=name)
    assert reading.latestOffset(of(name, 0, 0), ReadMaxBytes(4 * size)) == of(name, 2, 2)
    assert reading.latestOffset(of(name, 0, 0), ReadMaxBytes(100 * size)) == of(name, 6, 2)
    assert reading.latestOffset(of(name, 0, 0), ReadMaxBytes(1)) == of(name, 1, 0)


def test_the_options_set_the_limit(local_log: Given, name: str):
    assert stream(local_log, subscribe=name).getDefaultReadLimit() == ALL
    by_rows = stream(local_log, subscribe=name, maxOffsetsPerTrigger="7")
    assert by_rows.getDefaultReadLimit() == ReadMaxRows(7)
    by_bytes = stream(local_log, subscribe=name, maxBytesPerTrigger="9")
    assert by_bytes.getDefaultReadLimit() == ReadMaxBytes(9)


def test_a_batch_waits_until_there_are_enough_offsets(local_log: Given, name: str):
    reading = stream(local_log, SetClock(), subscribe=name, minOffsetsPerTrigger="3")
    first, limit = of(name, 6, 1), ReadMaxRows(100)
    assert reading.latestOffset(first, limit) == of(name, 6, 2)  # of a query that goes on
    local_log.append(name, 0, a_batch(b"1"), a_batch(b"2"))
    assert reading.latestOffset(of(name, 6, 2), limit) == of(name, 6, 2)
    local_log.append(name, 1, a_batch(b"3"))
    assert reading.latestOffset(of(name, 6, 2), limit) == of(name, 8, 3)
    assert reading.latestOffset(of(name, 8, 3), limit) == of(name, 8, 3)


@pytest.mark.parametrize("step_ms", [1_000, -1_000])
def test_a_batch_waits_no_longer_than_the_delay_though_the_clock_is_set_back(
    local_log: Given, name: str, step_ms: int
):
    clock = SetClock()
    delayed = {"minOffsetsPerTrigger": "100", "maxTriggerDelay": "1s"}
    reading = stream(local_log, clock, subscribe=name, **delayed)
    assert reading.latestOffset(of(name, 0, 0), ALL) == of(name, 6, 2)
    local_log.append(name, 0, a_batch(b"late"))
    clock.now += step_ms - (step_ms > 0)
    if step_ms > 0:
        assert reading.latestOffset(of(name, 6, 2), ALL) == of(name, 6, 2)
        clock.now += 1
    assert reading.latestOffset(of(name, 6, 2), ALL) == of(name, 7, 2)


def test_what_is_available_now_is_read_however_little_it_is(local_log: Given, name: str):
    reading = stream(local_log, SetClock(), subscribe=name, minOffsetsPerTrigger="100")
    assert reading.latestOffset(of(name, 6, 1), ALL) == of(name, 6, 2)
    local_log.append(name, 0, a_batch(b"one"))
    reading.prepareForTriggerAvailableNow()
    assert reading.latestOffset(of(name, 6, 2), ALL) == of(name, 7, 2)


def test_no_task_has_more_records_than_allowed(local_log: Given):
    name = local_log.topic(2)
    batch = a_batch(*[b"x" * 50] * 10)
    local_log.fill({(name, 0): [batch] * 3, (name, 1): [batch]})
    reading = stream(local_log, subscribe=name, maxRecordsPerPartition="7")
    splits = list(reading.partitions(of(name, 4, 0), of(name, 30, 10)))
    counts = [len(rows(reading, [split])) for split in splits]
    assert max(counts) <= 7
    assert len(counts) <= 8
    everything = [(0, offset) for offset in range(4, 30)] + [(1, offset) for offset in range(10)]
    assert rows(reading, splits) == everything


def test_available_now_ends_where_the_log_ended_then(local_log: Given, name: str):
    reading = stream(local_log, subscribe=name)
    reading.prepareForTriggerAvailableNow()
    local_log.append(name, 0, a_batch(b"later"))
    local_log.grow(name, 3)
    local_log.append(name, 2, a_batch(b"later"))
    assert reading.latestOffset(of(name, 0, 0), ReadMaxRows(5)) == of(name, 3, 2)
    assert reading.latestOffset(of(name, 3, 2), ReadMaxRows(5)) == of(name, 6, 2)
    assert reading.latestOffset(of(name, 6, 2), ReadMaxRows(5)) == of(name, 6, 2)


def test_a_new_partition_is_read_from_its_beginning(local_log: Given, name: str):
    reading = stream(local_log, subscribe=name)
    reading.latestOffset(of(name, 0, 0), ALL)
    local_log.grow(name, 3)
    local_log.append(name, 2, a_batch(b"a", b"b"))
    assert reading.latestOffset(of(name, 6, 2), ALL) == of(name, 6, 2, 2)
    found = reading.partitions(of(name, 6, 2), of(name, 6, 2, 2))
    assert rows(reading, list(found)) == [(2, 0), (2, 1)]


def test_a_topic_that_a_pattern_finds_later_is_read_from_its_beginning(local_log: Given):
    first = local_log.topic(name="later-a")
    reading = stream(local_log, subscribePattern="later-.*", startingOffsets="latest")
    assert reading.initialOffset() == of(first, 0)
    second = local_log.topic(name="later-b")
    local_log.append(second, 0, a_batch(b"x"))
    end = reading.latestOffset(of(first, 0), ALL)
    assert end == both(of(first, 0), of(second, 1))
    assert rows(reading, list(reading.partitions(of(first, 0), end))) == [(0, 0)]


def test_a_stream_of_a_topic_that_is_not_there_does_not_start(local_log: Given):
    with pytest.raises(UnknownTopic):
        stream(local_log, subscribe="nowhere").initialOffset()


def test_offsets_without_records_are_no_loss_and_no_rows(local_log: Given, name: str):
    local_log.compacted(name, 0, 4)
    reading = stream(local_log, subscribe=name)
    assert reading.latestOffset(of(name, 6, 2), ALL) == of(name, 10, 2)
    assert list(reading.partitions(of(name, 6, 2), of(name, 10, 2))) == []
    assert reading.latestOffset(of(name, 6, 2), ReadMaxBytes(10)) == of(name, 10, 2)


def test_what_was_trimmed_before_it_was_read_is_a_loss(local_log: Given, name: str):
    local_log.trim(name, 0, 4)
    with pytest.raises(DataLoss, match=r"\[1, 4\) were deleted before they were read"):
        stream(local_log, subscribe=name).latestOffset(of(name, 1, 0), ALL)
    reading = stream(local_log, subscribe=name, failOnDataLoss="false")
    end = reading.latestOffset(of(name, 1, 2), ALL)
    assert rows(reading, list(reading.partitions(of(name, 1, 2), end))) == [(0, 4), (0, 5)]


def test_a_batch_of_a_query_that_was_stopped_is_planned_without_a_look_before(
    local_log: Given, name: str
):
    reading = stream(local_log, subscribe=name)
    found = reading.partitions(of(name, 2, 0), of(name, 4, 1))
    assert rows(reading, list(found)) == [(0, 2), (0, 3), (1, 0)]


def test_a_topic_that_is_deleted_is_a_loss(local_log: Given, name: str):
    other = local_log.topic()
    local_log.append(other, 0, a_batch(b"x"))
    begin = both(of(name, 0, 0), of(other, 0))
    strict = stream(local_log, subscribe=f"{name},{other}")
    lenient = stream(local_log, subscribe=f"{name},{other}", failOnDataLoss="false")
    for reading in (strict, lenient):
        reading.latestOffset(begin, ALL)
    local_log.delete(name)
    with pytest.raises(DataLoss, match="the topic was deleted"):
        strict.latestOffset(begin, ALL)
    end = lenient.latestOffset(begin, ALL)
    assert end == of(other, 1)
    assert rows(lenient, list(lenient.partitions(begin, end))) == [(0, 0)]


def test_a_topic_that_is_made_again_is_a_loss_and_then_read_from_its_beginning(
    local_log: Given, name: str
):
    begin = of(name, 6, 2)
    strict = stream(local_log, subscribe=name)
    lenient = stream(local_log, subscribe=name, failOnDataLoss="false")
    for reading in (strict, lenient):
        reading.latestOffset(begin, ALL)
    local_log.delete(name)
    local_log.topic(2, name)
    local_log.append(name, 0, a_batch(b"new", b"newer"))
    with pytest.raises(DataLoss, match="made again"):
        strict.latestOffset(begin, ALL)
    end = lenient.latestOffset(begin, ALL)
    assert end == of(name, 2, 0)
    assert rows(lenient, list(lenient.partitions(begin, end))) == [(0, 0), (0, 1)]


@pytest.mark.parametrize("limit", [ALL, ReadMaxRows(100), ReadMaxBytes(1_000_000)])
def test_a_topic_that_was_made_again_between_two_runs_is_a_loss_though_its_log_is_longer(
    local_log: Given, name: str, limit: ReadLimit
):
    """The new one has the old one's offsets, and more: nothing but its id is different."""
    begin = of(name, 6, 2)
    local_log.delete(name)
    local_log.topic(2, name)
    local_log.fill({(name, 0): [a_batch(b"new")] * 8, (name, 1): [a_batch(b"new")] * 3})
    with pytest.raises(DataLoss, match=f"{name}: the topic was deleted, and made again"):
        stream(local_log, subscribe=name).latestOffset(begin, limit)
    lenient = stream(local_log, subscribe=name, failOnDataLoss="false")
    end = lenient.latestOffset(begin, limit)
    assert end == of(name, 8, 3)
    every = [(0, n) for n in range(8)] + [(1, n) for n in range(3)]
    assert rows(lenient, list(lenient.partitions(begin, end))) == every
    # The batch was planned, and the query stopped: it is the same batch when it comes back.
    again = stream(local_log, subscribe=name)
    assert rows(again, list(again.partitions(begin, end))) == every
    assert again.latestOffset(end, limit) == end


def test_a_batch_that_was_planned_of_a_topic_before_it_was_made_again_is_lost(
    local_log: Given, name: str
):
    begin, end = of(name, 0, 0), of(name, 6, 2)
    local_log.delete(name)
    local_log.topic(2, name)
    local_log.fill({(name, 0): [a_batch(b"new")] * 8})
    with pytest.raises(DataLoss, match="made again"):
        stream(local_log, subscribe=name).partitions(begin, end)
    lenient = stream(local_log, subscribe=name, failOnDataLoss="false")
    assert list(lenient.partitions(begin, end)) == []
    later = lenient.latestOffset(end, ALL)
    found = rows(lenient, list(lenient.partitions(end, later)))
    assert found == [(0, n) for n in range(8)]


def test_a_checkpoint_of_an_older_release_has_no_ids_and_goes_on(local_log: Given, name: str):
    older = {name: {"0": 1, "1": 0}}
    reading = stream(local_log, subscribe=name)
    end = reading.latestOffset(older, ReadMaxRows(2))
    assert end == of(name, 2, 1)
    assert rows(reading, list(reading.partitions(older, end))) == [(0, 1), (1, 0)]
    planned = {name: {"0": 3, "1": 1}}
    assert rows(reading, list(reading.partitions(older, planned))) == [(0, 1), (0, 2), (1, 0)]


def test_offsets_that_a_query_reports_are_a_place_to_start_from(local_log: Given, name: str):
    told = json.dumps(of(name, 4, 1))
    assert stream(local_log, subscribe=name, startingOffsets=told).initialOffset() == of(name, 4, 1)
