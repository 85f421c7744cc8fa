"""Spark reads what transactions committed; and all there is where a job asks for that."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from pipeline.given import Given, Opened, partition_of, records
from pyspark.sql.streaming.datasource import ReadAllAvailable

from pyspark_samsa.errors import BadOption, DataLoss, SamsaError
from pyspark_samsa.options import read_options
from pyspark_samsa.reader import SamsaReader
from pyspark_samsa.splits import Split
from pyspark_samsa.stream import SamsaStreamReader
from samsa.log.append import Marker
from samsa.log.layout import Batch
from samsa.log.read import Reader
from samsa.ports import End, Partition
from samsa.records import Codec, build, read_header
from samsa.records.header import TRANSACTIONAL

FAR = 4_000_000_000_000
"""A time that no marker has."""
UNCOMMITTED = {"kafka.isolation.level": "read_uncommitted"}


class Producer:
    """A transactional producer of one partition."""

    def __init__(self, log: Given, name: str, producer_id: int = 7) -> None:
        self._log = log
        self._name = name
        self._id = producer_id
        self._serial = 1
        self._sequence = 0

    def write(self, *values: bytes, codec: Codec = Codec.NONE, at: int = 1_000) -> None:
        data = build(
            records(*values, at=at),
            producer_id=self._id,
            producer_epoch=0,
            base_sequence=self._sequence,
            attributes=TRANSACTIONAL,
            codec=codec,
        )
        self._sequence += len(values)
        serial = self._serial

        async def append(opened: Opened) -> None:
            partition = await partition_of(opened, self._name, 0)
            batch = Batch(read_header(data), memoryview(bytearray(data)), serial)
            (outcome,) = await opened.log.append_once(partition, [batch])
            assert outcome.refusal is None

        self._log.do(append)

    def end(self, how: End) -> None:
        marker = Marker(self._id, 0, self._serial, how)
        self._serial += 1

        async def mark(opened: Opened) -> None:
            await opened.log.mark(await partition_of(opened, self._name, 0), marker)

        self._log.do(mark)


@pytest.fixture
def mixed(log: Given) -> str:
    """Committed, aborted, plain, and one that is still open."""
    name = log.topic()
    one, other = Producer(log, name), Producer(log, name, 8)
    one.write(b"a", b"b")
    other.write(b"X")
    one.end(End.COMMIT)
    one.write(b"Y", b"Z", codec=Codec.LZ4)
    other.end(End.ABORT)
    one.end(End.ABORT)
    one.write(b"c")
    one.end(End.COMMIT)
    other.write(b"open")
    return name


def values(log: Given, name: str, **options: str) -> list[bytes]:
    reading = SamsaReader(read_options({**log.options, "subscribe": name, **options}, False))
    tasks = [pickle.loads(pickle.dumps(split)) for split in reading.partitions()]
    batches = [batch for task in tasks for batch in reading.read(task)]
    return [row["value"] for batch in batches for row in batch.to_pylist()]


def test_a_job_reads_what_was_committed(log: Given, mixed: str):
    assert values(log, mixed) == [b"a", b"b", b"c"]


def test_a_job_may_ask_for_everything(log: Given, mixed: str):
    everything = [b"a", b"b", b"X", b"Y", b"Z", b"c", b"open"]
    assert values(log, mixed, **UNCOMMITTED) == everything


def test_both_are_the_same_after_settling_and_from_any_offset(log: Given, mixed: str):
    log.settle(mixed, 0)
    for first, expected in ((1, [b"b", b"c"]), (3, [b"c"]), (8, [b"c"]), (10, [])):
        found = values(log, mixed, startingOffsets=f'{{"{mixed}": {{"0": {first}}}}}')
        assert found == expected, first


def test_what_a_task_asks_the_ledger_for_is_filtered_too(
    log: Given, mixed: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("pyspark_samsa.reader.PLANNED_BYTES", 0)
    assert values(log, mixed) == [b"a", b"b", b"c"]


def test_what_retention_drops_while_a_job_is_planned_is_a_loss_and_not_committed(
    log: Given, mixed: str, monkeypatch: pytest.MonkeyPatch
):
    log.settle(mixed, 0)
    find = Reader.extents_from

    async def then_retention(reader: Reader, partition: Partition, *where: Any) -> Any:
        extents = await find(reader, partition, *where)
        monkeypatch.setattr(Reader, "extents_from", find)
        async with log.opened() as other:
            await other.log.retainer.delete_before(partition, 8)
        return extents

    monkeypatch.setattr(Reader, "extents_from", then_retention)
    with pytest.raises(DataLoss, match="offset 0 is gone"):
        values(log, mixed)
    assert values(log, mixed) == [b"c"]


def test_a_job_that_may_lose_data_goes_on_at_the_start_of_the_log_inside_an_extent(
    log: Given, monkeypatch: pytest.MonkeyPatch
):
    name, find = log.topic(), Reader.extents_from
    one = Producer(log, name)
    one.write(b"a", b"b")
    one.end(End.COMMIT)
    one.write(b"X")
    one.end(End.ABORT)
    log.settle(name, 0)

    async def then_retention(reader: Reader, partition: Partition, *where: Any) -> Any:
        extents = await find(reader, partition, *where)
        monkeypatch.setattr(Reader, "extents_from", find)
        async with log.opened() as other:
            await other.log.retainer.delete_before(partition, 1)
        return extents

    monkeypatch.setattr(Reader, "extents_from", then_retention)
    assert values(log, name, failOnDataLoss="false") == [b"b"]


def test_a_stream_goes_as_far_as_is_decided(log: Given, mixed: str):
    reading = SamsaStreamReader(
        read_options({**log.options, "subscribe": mixed, "startingOffsets": "earliest"}, True)
    )
    start = reading.initialOffset()
    end = reading.latestOffset(start, ReadAllAvailable())
    found = [
        row["value"]
        for split in reading.partitions(start, end)
        if isinstance(split, Split)
        for batch in reading.read(split)
        for row in batch.to_pylist()
    ]
    assert found == [b"a", b"b", b"c"]
    other = Producer(log, mixed, 9)
    other.write(b"later")
    assert reading.latestOffset(end, ReadAllAvailable()) == end, "it is held back"
    reading.stop()


@pytest.mark.parametrize("strategy", ["error", "latest"])
def test_a_time_that_only_an_open_transaction_has_is_later_than_every_record(
    log: Given, mixed: str, strategy: str
):
    Producer(log, mixed, 9).write(b"a", at=FAR + 1)
    late = {"startingTimestamp": f"{FAR}", "startingOffsetsByTimestampStrategy": strategy}
    stream = read_options({**log.options, "subscribe": mixed, **late}, True)
    if strategy == "error":
        for start in (lambda: values(log, mixed, **late), SamsaStreamReader(stream).initialOffset):
            with pytest.raises(SamsaError, match="no record at or after"):
                start()
        return
    assert values(log, mixed, **late) == []
    assert values(log, mixed, **late, **UNCOMMITTED) == [b"a"]
    reading = SamsaStreamReader(stream)
    start = reading.initialOffset()
    assert reading.latestOffset(start, ReadAllAvailable()) == start
    reading.stop()


def test_another_level_is_refused():
    with pytest.raises(BadOption, match="not one of read_committed, read_uncommitted"):
        read_options(
            {
                "subscribe": "a",
                "ledger": "sqlite:///l",
                "objects": "file:///o",
                "kafka.isolation.level": "serializable",
            },
            False,
        )


def test_spark_reads_committed_rows(log: Given, mixed: str, table: Callable[..., Any]):
    found = table(log, subscribe=mixed).select("value").collect()
    assert [bytes(row.value) for row in found] == [b"a", b"b", b"c"]
