"""Topics as tables, in a real Spark: on one machine, and on DynamoDB and S3."""

from collections.abc import Callable
from typing import Any

import pytest
from pipeline.given import LOG_APPEND_TIME, Given, a_batch, moment, row_values
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from samsa.records import Codec, Record, build

Table = Callable[..., DataFrame]
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def instants(rows: list[Any]) -> list[Any]:
    """Spark's Python gives local times without a zone."""
    return [row.timestamp.astimezone(moment(0).tzinfo) for row in rows]


def test_every_column_of_every_codec(log: Given, table: Table):
    name = log.topic(len(Codec))
    written = [
        Record(0, 5_000, b"k", b"v", (("a", b"1"), ("ü", None))),
        Record(1, 6_000, None, b"no key"),
        Record(2, 4_000, b"no value", None),
        Record(3, 7_000, b"", b""),
    ]
    log.fill({(name, codec.value): [build(written, codec=codec)] for codec in Codec})
    found = table(log, subscribe=name, includeHeaders="true").orderBy("partition", "offset")
    rows = found.collect()
    assert row_values(rows) == [
        (name, codec.value, record.offset, record.key, record.value)
        for codec in Codec
        for record in written
    ]
    assert instants(rows) == [moment(r.timestamp) for _ in Codec for r in written]
    assert {row.timestampType for row in rows} == {0}
    for row in rows:
        headers = [(h.key, h.value and bytes(h.value)) for h in row.headers or ()]
        assert headers == list(written[row.offset].headers)
        assert (row.headers is None) == (row.offset > 0)


def test_the_time_of_the_log(log: Given, table: Table):
    name = log.topic()
    log.append(
        name,
        0,
        build([Record(0, 1_000, None, b"a"), Record(1, 3_000, None, b"b")]),
        build(
            [Record(0, 2_000, None, b"c"), Record(1, 9_000, None, b"d")], attributes=LOG_APPEND_TIME
        ),
    )
    rows = table(log, subscribe=name).orderBy("offset").collect()
    assert instants(rows) == [moment(ms) for ms in (1_000, 3_000, 9_000, 9_000)]
    assert [row.timestampType for row in rows] == [0, 0, 1, 1]


def test_six_topics_of_twelve_partitions(log: Given, table: Table):
    names = [log.topic(12, f"many-{log.ledger[:6]}-{number}") for number in range(6)]
    log.fill(
        {
            (name, number): [a_batch(b"%s %d" % (name.encode(), number), codec=Codec.LZ4)]
            for name in names
            for number in range(12)
        }
    )
    found = table(log, subscribePattern="many-.*-[0-5]")
    assert row_values(found.collect()) == sorted(
        (name, number, 0, b"k0", b"%s %d" % (name.encode(), number))
        for name in names
        for number in range(12)
    )
    assert found.rdd.getNumPartitions() <= 2


def test_records_of_ten_megabytes(log: Given, table: Table):
    name = log.topic()
    large = bytes(range(256)) * 40_960
    log.fill({(name, 0): [a_batch(large, codec=codec) for codec in (Codec.NONE, Codec.ZSTD)]})
    rows = table(log, subscribe=name).orderBy("offset").collect()
    assert [bytes(row.value) == large for row in rows] == [True, True]


def test_an_empty_topic_is_an_empty_table(log: Given, table: Table):
    name = log.topic(2)
    assert table(log, subscribe=name).collect() == []
    assert table(log, subscribePattern="nobody-has-this").count() == 0


def test_columns_are_chosen_by_name(log: Given, table: Table):
    name = log.topic()
    log.append(name, 0, a_batch(b"v"))
    found = table(log, subscribe=name, columns="value,offset")
    assert found.columns == ["value", "offset"]
    assert [(bytes(row.value), row.offset) for row in found.collect()] == [(b"v", 0)]


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_filters_work_whether_spark_pushes_them_or_not(
    local_log: Given, table: Table, spark: SparkSession, enabled: str
):
    name = local_log.topic(3)
    one = [build([Record(0, 1_000 * n, b"k", b"%d" % n)]) for n in range(10)]
    local_log.fill({(name, number): one for number in range(3)})
    before = spark.conf.get(PUSHDOWN)
    spark.conf.set(PUSHDOWN, enabled)
    try:
        found = table(local_log, subscribe=name).where(
            "partition in (0, 2) and offset > 3 and offset <= 8"
            " and timestamp >= timestamp_millis(5000) and timestamp < timestamp_millis(8000)"
        )
        assert sorted((row.partition, row.offset) for row in found.collect()) == [
            (number, offset) for number in (0, 2) for offset in (5, 6, 7)
        ]
        assert table(local_log, subscribe=name).count() == 30
    finally:
        spark.conf.set(PUSHDOWN, before)


def test_a_user_is_told_what_to_do(local_log: Given, table: Table):
    local_log.topic(name="orders")
    with pytest.raises(PySparkException, match="did you mean 'orders'"):
        table(local_log, subscribe="ordres").collect()
    with pytest.raises(PySparkException, match="did you mean 'subscribe'"):
        table(local_log, subscrib="orders").collect()
