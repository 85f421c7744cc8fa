"""Planning: which bytes a query reads, and in how many tasks. No Spark is needed to ask."""

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from pipeline.given import Given, a_batch, records
from pyspark.sql.datasource import DataSourceReader, EqualTo, GreaterThan, In, LessThan

from pyspark_samsa.errors import BadOption, DataLoss, SamsaError, UnknownTopic
from pyspark_samsa.options import read_options
from pyspark_samsa.plan import AT_ONCE
from pyspark_samsa.read import gathered
from pyspark_samsa.reader import SamsaReader
from pyspark_samsa.splits import Split
from samsa.log.read import Reader
from samsa.ports import Partition, Unavailable
from samsa.records import Record, build

KILOBYTE = b"x" * 1000


def reader(log: Given, **options: Any) -> SamsaReader:
    return SamsaReader(read_options({**log.options, **options}, streaming=False))


def splits(log: Given, **options: Any) -> list[Split]:
    return [split for split in reader(log, **options).partitions() if isinstance(split, Split)]


def offsets(log: Given, **options: Any) -> list[tuple[int, int]]:
    """Partition and offset of every row, in the order in which they are read."""
    reading = reader(log, **options)
    batches = [batch for split in reading.partitions() for batch in reading.read(split)]
    return [(r["partition"], r["offset"]) for batch in batches for r in batch.to_pylist()]


@pytest.fixture(scope="module")
def three(local_log: Given) -> str:
    """Three partitions, ten records each, one a second from 1000 ms on; each its own commit."""
    name = local_log.topic(3)
    one = [build([Record(0, 1_000 + 1_000 * n, None, b"%d" % n)]) for n in range(10)]
    local_log.fill({(name, number): one for number in range(3)})
    return name


def at(number: int, *found: int) -> list[tuple[int, int]]:
    return [(number, offset) for offset in found]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, range(10)),
        ({"startingOffsets": '{"T": {"0": 4}}'}, range(4, 10)),
        ({"startingOffsets": '{"T": {"0": -2}}', "endingOffsets": '{"T": {"0": 3}}'}, range(3)),
        ({"startingOffsets": '{"T": {"0": -1}}'}, ()),
        ({"startingOffsets": '{"T": {"0": 8}}', "endingOffsets": '{"T": {"0": -1}}'}, (8, 9)),
        ({"startingTimestamp": "3500"}, range(3, 10)),
        ({"startingTimestamp": "3000", "endingTimestamp": "5000"}, (2, 3)),
        ({"startingOffsetsByTimestamp": '{"T": {"0": 9500}}'}, (9,)),
        ({"endingOffsetsByTimestamp": '{"T": {"0": 99999}}'}, range(10)),
        (
            {"startingTimestamp": "99999", "startingOffsetsByTimestampStrategy": "latest"},
            (),
        ),
    ],
)
def test_a_batch_is_what_lies_between_two_positions(
    local_log: Given, three: str, options: dict[str, str], expected: Any
):
    named = {name: value.replace('"T"', f'"{three}"') for name, value in options.items()}
    found = offsets(local_log, assign=f'{{"{three}": [0]}}', **named)
    assert found == at(0, *expected)


def test_a_starting_time_after_the_last_record_is_an_error_unless_said(
    local_log: Given, three: str
):
    with pytest.raises(SamsaError, match="startingOffsetsByTimestampStrategy=latest"):
        splits(local_log, subscribe=three, startingTimestamp="99999")


@pytest.mark.parametrize(
    ("option", "given", "expected"),
    [
        ("startingOffsets", {"0": 7}, [at(0, *range(7, 10)), at(1, *range(10)), at(2, *range(10))]),
        ("endingOffsets", {"2": 1}, [at(0, *range(10)), at(1, *range(10)), at(2, 0)]),
        (
            "startingOffsetsByTimestamp",
            {"1": 10_000},
            [at(0, *range(10)), at(1, 9), at(2, *range(10))],
        ),
        (
            "endingOffsetsByTimestamp",
            {"1": 2_000},
            [at(0, *range(10)), at(1, 0), at(2, *range(10))],
        ),
    ],
)
def test_partitions_that_are_not_named_are_read_from_and_to_where_they_are_by_default(
    local_log: Given, three: str, option: str, given: dict[str, int], expected: list[Any]
):
    assert offsets(local_log, subscribe=three, **{option: json.dumps({three: given})}) == [
        *chain(*expected)
    ]


@pytest.mark.parametrize("slashes", ["///", "////"])
def test_an_absolute_path_may_have_a_fourth_slash_as_other_tools_want_it(
    local_log: Given, three: str, slashes: str
):
    ledger, objects = (url.replace(":///", f":{slashes}") for url in local_log.options.values())
    assert len(offsets(Given(ledger, objects), subscribe=three)) == 30


def test_offsets_of_a_partition_that_is_not_read_are_refused(local_log: Given, three: str):
    with pytest.raises(BadOption, match="which is not read"):
        splits(
            local_log,
            assign=f'{{"{three}": [0]}}',
            startingOffsets=f'{{"{three}": {{"0": 1, "7": 1}}}}',
        )


def test_an_unknown_topic_is_named_with_the_nearest(local_log: Given, three: str):
    with pytest.raises(UnknownTopic, match=f"did you mean '{three}'"):
        splits(local_log, subscribe=f"{three}x")
    with pytest.raises(UnknownTopic, match="there is no partition 3"):
        splits(local_log, assign=f'{{"{three}": [3]}}')


def test_a_pattern_leaves_out_what_is_the_broker_s_own(local_log: Given):
    own = local_log.topic(name="__consumer_offsets")
    other = local_log.topic(name="__consumer_offsets_of_mine")
    local_log.fill({(own, 0): [a_batch(b"x")], (other, 0): [a_batch(b"y", b"z")]})
    assert offsets(local_log, subscribePattern="__consumer_offsets.*") == at(0, 0, 1)
    assert offsets(local_log, subscribe=own) == at(0, 0)


@pytest.mark.parametrize(
    ("urls", "said"),
    [
        ({"ledger": "sqlite:///nowhere/ledger.db"}, "there is no ledger"),
        ({"objects": "file:///nowhere"}, "there is no folder"),
        ({"ledger": "postgres://x"}, "is no ledger"),
        ({"objects": "ftp://x"}, "is no object store"),
        ({"ledger": "dynamodb://t?endpoint=http://127.0.0.1:9"}, "cannot be read"),
    ],
)
def test_a_log_that_is_not_there_is_said_to_be_so(
    local_log: Given, urls: dict[str, str], said: str
):
    given = Given(**{**local_log.options, **urls})
    with pytest.raises(SamsaError, match=said):
        splits(given, subscribe="t")


def test_small_partitions_share_a_task(local_log: Given, three: str):
    (one,) = splits(local_log, subscribe=three)
    assert {run.number for run in one.runs} == {0, 1, 2}


def test_as_many_tasks_as_asked_for(local_log: Given):
    name = local_log.topic()
    local_log.append(name, 0, *(a_batch(*[KILOBYTE] * 40) for _ in range(50)))
    assert len(splits(local_log, subscribe=name)) == 1
    found = splits(local_log, subscribe=name, minPartitions="8")
    assert len(found) >= 8
    assert offsets(local_log, subscribe=name, minPartitions="8") == at(0, *range(2000))


def test_one_partition_of_some_size_is_several_tasks(local_log: Given):
    name = local_log.topic()
    batches = [a_batch(*[KILOBYTE] * 100) for _ in range(50)]
    for _ in range(4):
        local_log.append(name, 0, *batches)
    found = splits(local_log, subscribe=name)
    assert len(found) >= 3
    assert max(split.size for split in found) <= 8 * 1024 * 1024
    assert offsets(local_log, subscribe=name) == at(0, *range(20_000))


def test_a_task_reads_little_more_than_it_wants(local_log: Given):
    name = local_log.topic()
    local_log.append(name, 0, *(a_batch(*[KILOBYTE] * 10) for _ in range(400)))
    where = f'{{"{name}": {{"0": %d}}}}'
    options = {"startingOffsets": where % 3_000, "endingOffsets": where % 3_010}
    (one,) = splits(local_log, subscribe=name, **options)
    assert one.size <= 2 * 1024 * 1024 + 10_000
    assert offsets(local_log, subscribe=name, **options) == at(0, *range(3_000, 3_010))


def pushed(log: Given, *filters: Any, **options: Any) -> SamsaReader:
    reading = reader(log, **options)
    assert list(reading.pushFilters(list(filters))) == list(filters)
    return reading


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([EqualTo(("partition",), 1)], {(1, n) for n in range(10)}),
        ([In(("partition",), (0, 2)), EqualTo(("partition",), 2)], {(2, n) for n in range(10)}),
        ([GreaterThan(("offset",), 7)], {(p, n) for p in range(3) for n in (7, 8, 9)}),
        ([LessThan(("offset",), 1)], {(p, n) for p in range(3) for n in (0, 1)}),
        ([EqualTo(("offset",), 5)], {(p, 5) for p in range(3)}),
        ([EqualTo(("topic",), "another")], set()),
        ([EqualTo(("value",), b"3")], {(p, n) for p in range(3) for n in range(10)}),
        ([EqualTo(("headers", "key"), 1)], {(p, n) for p in range(3) for n in range(10)}),
    ],
)
def test_a_filter_saves_reading_and_loses_nothing(
    local_log: Given, three: str, filters: list[Any], expected: set[tuple[int, int]]
):
    planned = pushed(local_log, *filters, subscribe=three).partitions()
    runs = [run for split in planned if isinstance(split, Split) for run in split.runs]
    assert {(run.number, n) for run in runs for n in range(run.first, run.end)} == expected


def test_a_filter_by_time_saves_what_is_marked_as_older(local_log: Given):
    name = local_log.topic()
    batches = [build([Record(0, 1_000 * n, None, b"x" * 200_000)]) for n in range(10)]
    local_log.append(name, 0, *batches)
    filters = [GreaterThan(("timestamp",), datetime.fromtimestamp(7.5, UTC))]
    reading = pushed(local_log, *filters, subscribe=name)
    runs = [run for split in reading.partitions() for run in split.runs]  # type: ignore[attr-defined]
    assert {n for run in runs for n in range(run.first, run.end)} == {8, 9}


def test_spark_may_not_notice_that_filters_could_be_pushed(local_log: Given, three: str):
    """While its switch is off, it fails every query on a reader with a pushFilters of its own."""
    reading = reader(local_log, subscribe=three)
    assert reading.pushFilters.__func__ is DataSourceReader.pushFilters


def test_what_was_trimmed_is_a_loss_if_it_was_asked_for(local_log: Given):
    name = local_log.topic()
    local_log.fill({(name, 0): [a_batch(b"x") for _ in range(5)]})
    local_log.trim(name, 0, 3)
    assert offsets(local_log, subscribe=name) == at(0, 3, 4)
    asked = {"subscribe": name, "startingOffsets": f'{{"{name}": {{"0": 1}}}}'}
    with pytest.raises(DataLoss, match=r"\[1, 5\) were asked for, and the log is \[3, 5\)"):
        splits(local_log, **asked)
    assert offsets(local_log, **asked, failOnDataLoss="false") == at(0, 3, 4)


def test_offsets_after_the_end_are_a_loss_too(local_log: Given, three: str):
    asked = {"assign": f'{{"{three}": [0]}}', "endingOffsets": f'{{"{three}": {{"0": 11}}}}'}
    with pytest.raises(DataLoss, match="the log is"):
        splits(local_log, **asked)
    assert offsets(local_log, **asked, failOnDataLoss="false") == at(0, *range(10))


def test_the_start_of_a_log_may_lie_inside_a_batch(local_log: Given):
    name = local_log.topic()
    local_log.append(name, 0, a_batch(b"a", b"b", b"c"))
    local_log.trim(name, 0, 2)
    assert offsets(local_log, subscribe=name) == at(0, 2)


def test_offsets_without_records_are_no_loss(local_log: Given):
    name = local_log.topic()
    local_log.append(name, 0, a_batch(b"a"))
    local_log.compacted(name, 0, 5)
    local_log.append(name, 0, a_batch(b"b"))
    assert offsets(local_log, subscribe=name) == at(0, 0, 6)


def test_a_topic_without_records_has_one_task_with_nothing_to_do(local_log: Given):
    (one,) = splits(local_log, subscribe=local_log.topic(4))
    assert one.runs == ()


# Reading what was planned


def test_many_small_ranges_are_one_batch_for_spark(local_log: Given, three: str):
    reading = reader(local_log, subscribe=three, minPartitions="1")
    (planned,) = reading.partitions()
    (batch,) = reading.read(planned)
    assert batch.num_rows == 30
    batch.validate(full=True)


def test_batches_are_gathered_up_to_a_size_and_none_is_lost():
    made = [pa.record_batch({"n": pa.array(range(n, n + 10))}) for n in range(0, 100, 10)]
    found = list(gathered(made, enough=200))
    assert [batch.num_rows for batch in found] == [30, 30, 30, 10]
    assert [n for batch in found for n in batch["n"].to_pylist()] == list(range(100))


def rewritten(log: Given, change: Callable[[sqlite3.Connection, Path], None]) -> None:
    """What a merge does to a log, for a reader that planned before."""
    with sqlite3.connect(urlsplit(log.ledger).path) as db:
        change(db, Path(urlsplit(log.objects).path))


def values(batches: list[pa.RecordBatch]) -> list[bytes]:
    return [row["value"] for batch in batches for row in batch.to_pylist()]


def test_what_moved_since_it_was_planned_is_found_again(local_log: Given):
    name = local_log.topic()
    local_log.append(name, 0, build(records(b"a", b"b")))
    reading = reader(local_log, subscribe=name)
    (planned,) = reading.partitions()
    (key,) = {run.stored.key for run in planned.runs}  # type: ignore[attr-defined]

    def move(db: sqlite3.Connection, objects: Path) -> None:
        os.rename(objects / key, objects / f"{key}0")
        assert db.execute("UPDATE extents SET key=? WHERE key=?", (f"{key}0", key)).rowcount

    rewritten(local_log, move)
    assert values(list(reading.read(planned))) == [b"a", b"b"]


def test_what_was_deleted_since_it_was_planned_is_a_loss(local_log: Given):
    name = local_log.topic()
    local_log.append(name, 0, build(records(b"a", b"b")))
    asked = {"subscribe": name, "failOnDataLoss": "false"}
    (planned,) = reader(local_log, subscribe=name).partitions()
    local_log.delete(name)
    with pytest.raises(DataLoss, match="deleted"):
        list(reader(local_log, subscribe=name).read(planned))
    assert list(reader(local_log, **asked).read(planned)) == []


def test_all_partitions_are_asked_for_at_once_and_stay_in_order(
    local_log: Given, monkeypatch: pytest.MonkeyPatch
):
    """With one at a time, a thousand partitions would be a thousand round trips."""
    name = local_log.topic(100)
    local_log.fill({(name, number): [a_batch(b"x")] for number in range(100)})
    asked = Asked()
    monkeypatch.setattr(Reader, "extents_from", asked.slowly(Reader.extents_from))
    assert offsets(local_log, subscribe=name) == [(number, 0) for number in range(100)]
    assert asked.at_once == AT_ONCE
    assert 1_000 / AT_ONCE * 2 * 0.05 <= 2, "seconds, of two round trips of 50 ms for each"


def test_a_partition_that_cannot_be_planned_ends_the_plan_after_all_others(
    local_log: Given, monkeypatch: pytest.MonkeyPatch
):
    """Otherwise they would go on with stores that are closed."""
    name = local_log.topic(5)
    asked = Asked(failing=2)
    local_log.fill({(name, number): [a_batch(b"x")] for number in range(5)})
    monkeypatch.setattr(Reader, "extents_from", asked.slowly(Reader.extents_from))
    with pytest.raises(SamsaError, match="on purpose"):
        offsets(local_log, subscribe=name)
    assert asked.running == 0


class Asked:
    """How many are asked for at once, each of which takes some turns of the event loop."""

    def __init__(self, failing: int | None = None) -> None:
        self.running, self.at_once, self._failing = 0, 0, failing

    def slowly(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        async def slow(reader: Reader, partition: Partition, *rest: Any) -> Any:
            self.running += 1
            self.at_once = max(self.at_once, self.running)
            for _ in range(3 + 97 * (partition.number > 2)):
                await asyncio.sleep(0)
            self.running -= 1
            if partition.number == self._failing:
                raise Unavailable("on purpose")
            return await ask(reader, partition, *rest)

        return slow
