"""From rows to staged batches: columns, partitions, sizes, and what a user is told."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline.given import Given, Opened
from pipeline.sinking import rows, staged
from pyspark.sql.types import (
    BinaryType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pyspark_samsa.columns import SPARK_TYPES
from pyspark_samsa.errors import BadOption, BadRows, SamsaError
from pyspark_samsa.sink import staging
from pyspark_samsa.sink.encode import Growing, at_most
from pyspark_samsa.sink.options import read_sink_options
from pyspark_samsa.sink.partitioner import STICK_BYTES, Sticking, hashes, sizes
from pyspark_samsa.sink.schema import written_columns
from pyspark_samsa.sink.staged import Staged
from pyspark_samsa.sink.turns import Turn
from pyspark_samsa.sink.writer import stage
from samsa.http_api.partitioner import murmur2
from samsa.ports import Topic
from samsa.records import Codec, Record, build, headers, records

TURN = Turn("rows", 0, can_come_again=False)
WHERE = {"ledger": "sqlite:///a/ledger.db", "objects": "file:///a/objects"}
KINDS: dict[str, DataType] = {
    "binary": BinaryType(),
    "bigint": LongType(),
    "double": DoubleType(),
    "headers": SPARK_TYPES["headers"],
    "int": IntegerType(),
    "map": MapType(StringType(), BinaryType()),
    "string": StringType(),
    "timestamp": TimestampType(),
}


def struct(columns: str) -> StructType:
    """Of names and kinds. Spark's own way to say it needs a session."""
    pairs = (column.split() for column in columns.split(", "))
    return StructType([StructField(name, KINDS[kind]) for name, kind in pairs])


@given(st.lists(st.none() | st.binary(max_size=40) | st.binary(min_size=500, max_size=530)))
def test_keys_are_hashed_together_as_one_by_one(keys: list[bytes | None]):
    array = pa.array([b"passed over", *keys], pa.large_binary()).slice(1)
    found = hashes(array).tolist()
    assert [h for h, key in zip(found, keys, strict=True) if key is not None] == [
        murmur2(key) for key in keys if key is not None
    ]


def test_rows_without_a_key_stay_together_for_a_while_and_then_move_on():
    sticking = Sticking(7)
    some = sizes(pa.array([b"x" * 1023] * 40, pa.large_binary()))
    both = np.concatenate([sticking.numbers(some[:20]), sticking.numbers(some[20:])]).tolist()
    per_run = STICK_BYTES // 1024
    assert both == [7 + number // per_run for number in range(40)]


CONTENT = st.none() | st.binary(max_size=20) | st.just(b"x" * 20_000)
A_RECORD = st.tuples(
    st.integers(0, 2**60),
    CONTENT,
    CONTENT,
    st.lists(st.tuples(st.text(max_size=8), CONTENT), max_size=3).map(tuple),
)


@settings(max_examples=60)
@given(st.lists(A_RECORD, min_size=1, max_size=8), st.sampled_from(Codec))
def test_batches_are_those_that_the_library_would_build(several: list[Any], codec: Codec):
    growing = Growing()
    for one in several:
        before = len(growing.data)
        growing.add(*one)
        assert len(growing.data) - before <= at_most(*one[1:])
    wanted = [Record(number, *one) for number, one in enumerate(several)]
    made = growing.sealed(codec)
    assert list(records(made)) == wanted
    assert len(made) <= len(build(wanted, codec=codec))
    assert growing.sealed(Codec.NONE) == build(wanted)


@pytest.mark.parametrize(
    ("schema", "options", "columns"),
    [
        ("value string", {"topic": "t"}, ("value",)),
        ("value binary, key string, other double", {"topic": "t"}, ("value", "key")),
        ("topic string, value string", {}, ("value", "topic")),
        ("topic string, value string", {"topic": "t"}, ("value",)),
        ("value string, headers headers, partition bigint", {"topic": "t"},
         ("value", "headers", "partition")),
        ("value string, timestamp timestamp", {"topic": "t"}, ("value",)),
        ("value string, timestamp timestamp", {"topic": "t", "includeTimestamp": "true"},
         ("value", "timestamp")),
    ],
)  # fmt: skip
def test_the_columns_that_are_written(
    schema: str, options: dict[str, str], columns: tuple[str, ...]
):
    read = read_sink_options({**WHERE, **options}, streaming=False)
    assert written_columns(struct(schema), read) == columns


@pytest.mark.parametrize(
    ("schema", "options", "said"),
    [
        ("key string, valeu string", {"topic": "t"}, "no column 'value'.*did you mean 'valeu'"),
        ("value int", {"topic": "t"}, "'value' is int, not string or binary: cast it"),
        ("value string, key double", {"topic": "t"}, "'key' is double"),
        ("value string, partition string", {"topic": "t"}, "'partition' is string, not int"),
        ("value string, headers map", {"topic": "t"}, "'headers' is map"),
        ("value string", {}, "the option 'topic', or add a column 'topic'"),
        ("value string", {"topic": "t", "includeTimestamp": "true"}, "column 'timestamp'"),
    ],
)
def test_rows_that_cannot_be_written_are_refused_before_anything_runs(
    schema: str, options: dict[str, str], said: str
):
    read = read_sink_options({**WHERE, **options}, streaming=False)
    with pytest.raises(BadRows, match=said):
        written_columns(struct(schema), read)


@pytest.mark.parametrize(
    ("options", "streaming", "said"),
    [
        ({"topics": "t"}, False, "did you mean 'topic'"),
        ({"kafka.compression.type": "brotli"}, False, "is not one of none, gzip"),
        ({"txnAppId": "a"}, False, "go together"),
        ({"txnAppId": "a", "txnVersion": "-1"}, False, "no whole number"),
        ({"txnAppId": "a", "txnVersion": "1"}, True, "a stream numbers its own"),
    ],
)
def test_options_that_cannot_be(options: dict[str, str], streaming: bool, said: str):
    with pytest.raises(BadOption, match=said):
        read_sink_options({**WHERE, **options}, streaming)


def test_what_is_for_spark_or_for_a_producer_is_passed_over():
    others = {"checkpointLocation": "/c", "queryName": "q", "kafka.bootstrap.servers": "b:9092"}
    assert read_sink_options({**WHERE, **others}, streaming=True).codec is Codec.NONE


def a_topic(log: Given, partitions: int = 1, **configs: str) -> str:
    name = log.topic(partitions)

    async def configure(opened: Opened) -> bool:
        old = await opened.stores.ledger.topic(name)
        assert old is not None
        new = Topic(name, old.id, partitions, old.created_at, configs)
        return await opened.stores.ledger.change_topic(old, new)

    assert log.do(configure)
    return name


def stored(log: Given, message: Staged) -> dict[tuple[str, int], list[list[Record]]]:
    """The batches of each partition."""

    async def read(opened: Opened) -> dict[tuple[str, int], list[list[Record]]]:
        found: dict[tuple[str, int], list[list[Record]]] = {}
        for piece in message.pieces:
            data = await opened.stores.objects.get(piece.key, piece.start, piece.length)
            several = [list(records(data, at)) for at, _ in headers(data)]
            assert sum(map(len, several)) == piece.records
            found.setdefault((piece.topic, piece.number), []).extend(several)
        return found

    return log.do(read)


def stage_rows(
    log: Given, columns: list[str], several: list[dict[str, Any]], **options: str
) -> Staged:
    read = read_sink_options({**log.options, **options}, streaming=False)
    return stage(read, tuple(columns), TURN, iter([pa.RecordBatch.from_pylist(several)]))


def test_every_column_comes_to_its_record(local_log: Given):
    first, second = local_log.topic(3), local_log.topic(1)
    at = datetime(2020, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
    said = [{"key": "a", "value": b"1"}, {"key": "a", "value": None}]
    row = {"topic": first, "partition": 2, "key": "k", "value": "v", "timestamp": at}
    other = {**row, "topic": second, "partition": None, "key": None, "value": None}
    message = stage_rows(
        local_log,
        ["topic", "partition", "key", "value", "headers", "timestamp"],
        [{**row, "headers": said}, {**other, "headers": None}],
        includeTimestamp="true",
    )
    ms = int(at.timestamp() * 1000)
    assert stored(local_log, message) == {
        (first, 2): [[Record(0, ms, b"k", b"v", (("a", b"1"), ("a", None)))]],
        (second, 0): [[Record(0, ms, None, None)]],
    }


def test_a_time_before_all_time_is_refused(local_log: Given):
    name, early = local_log.topic(), datetime(1969, 12, 31, tzinfo=UTC)
    with pytest.raises(BadRows, match="before 1970"):
        stage_rows(
            local_log,
            ["value", "timestamp"],
            [{"value": "v", "timestamp": early}],
            topic=name,
            includeTimestamp="true",
        )


def test_the_option_topic_goes_before_the_column(local_log: Given):
    name = local_log.topic()
    message = stage_rows(local_log, ["value"], [{"value": "v", "topic": "another"}], topic=name)
    assert [piece.topic for piece in message.pieces] == [name]


@pytest.mark.parametrize(
    ("configs", "row", "said"),
    [
        ({}, {"partition": 3}, "names partition 3 of .*, which has 2"),
        ({}, {"partition": -1}, "names partition -1"),
        ({"max.message.bytes": "1000"}, {"value": b"x" * 1000}, "max.message.bytes=1000"),
        ({"cleanup.policy": "compact"}, {"key": None}, "has no key, and .* is compacted"),
    ],
)
def test_a_row_that_a_topic_cannot_take(
    local_log: Given, configs: dict[str, str], row: dict[str, Any], said: str
):
    name = a_topic(local_log, 2, **configs)
    with pytest.raises(BadRows, match=said):
        staged(local_log, TURN, name, rows("a", 3), [{"value": b"v", "key": b"k", **row}])


def test_a_topic_that_is_not_there_or_not_ours(local_log: Given):
    local_log.topic(name="sinkable")
    with pytest.raises(SamsaError, match=r"no topic 'sinkabel'.*did you mean 'sinkable'"):
        staged(local_log, TURN, "sinkabel", rows("a", 1))
    with pytest.raises(SamsaError, match="samsa topics create never-heard-of"):
        staged(local_log, TURN, "never-heard-of", rows("a", 1))
    with pytest.raises(BadRows, match="its column 'topic' is null"):
        stage_rows(local_log, ["topic", "value"], [{"topic": None, "value": "v"}])
    local_log.topic(name="__consumer_offsets")
    with pytest.raises(BadRows, match="read-only"):
        staged(local_log, TURN, "__consumer_offsets", rows("a", 1))


def test_no_batch_is_larger_than_its_topic_takes(local_log: Given):
    name = a_topic(local_log, 1, **{"max.message.bytes": "500"})
    message = staged(local_log, TURN, name, rows("a", 300))
    (several,) = stored(local_log, message).values()
    assert len(several) > 5
    assert [record.value for batch in several for record in batch] == [
        row["value"] for row in rows("a", 300)
    ]


def test_memory_is_bounded_by_objects_however_many_partitions_there_are(
    local_log: Given, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(staging, "OBJECT_BYTES", 10_000)
    held: list[int] = []
    add = staging.Stager.add

    def watched(self: staging.Stager, row: Any) -> None:
        add(self, row)
        held.append(self._held)

    monkeypatch.setattr(staging.Stager, "add", watched)
    name = local_log.topic(50)
    several = [{"value": b"x" * 1_000, "key": b"k", "partition": n % 50} for n in range(300)]
    message = staged(local_log, TURN, name, several)
    assert max(held) < 12_000
    sizes = [piece.start + piece.length for piece in message.pieces]
    assert max(sizes) < 20_000
    assert sum(piece.records for piece in message.pieces) == 300


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_batches_are_compressed_if_that_makes_them_smaller(local_log: Given, codec: str):
    name = local_log.topic()
    said = {"topic": name, "kafka.compression.type": codec}
    several = [{"value": b"again and again " * 50}] * 20
    small = stage_rows(local_log, ["value"], several, **said)
    assert sum(piece.length for piece in small.pieces) < 2_000
    assert len(next(iter(stored(local_log, small).values()))[0]) == 20
    (one,) = stage_rows(local_log, ["value"], [{"value": b"\x00"}], **said).pieces
    (plain,) = stage_rows(local_log, ["value"], [{"value": b"\x00"}], topic=name).pieces
    assert one.length == plain.length
