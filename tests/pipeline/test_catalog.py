"""Topics as tables in Spark's catalog: CREATE TABLE, INSERT INTO, readStream.table."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pipeline.given import Given, a_batch
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType
from unit.docs.pages import ROOT, code

from pyspark_samsa import DefaultSource
from pyspark_samsa.catalog import table_options
from pyspark_samsa.errors import BadOption
from pyspark_samsa.sink.options import read_sink_options

BY_SPARK = {"provider": "samsa", "owner": "root", "option.subscribe": "orders", "path": "/tables/t"}


@pytest.fixture
def own(spark: SparkSession) -> SparkSession:
    """A session with Spark's own catalog: that of Delta takes no tables of Python sources."""
    session = spark.newSession()
    session.conf.set("spark.sql.catalog.spark_catalog", "builtin")
    return session


@pytest.fixture
def catalog(own: SparkSession) -> Iterator[Callable[..., str]]:
    """Makes tables of topics; their names."""
    made: list[str] = []

    def create(log: Given, **options: str) -> str:
        name = f"t_{uuid4().hex[:8]}"
        said = ", ".join(f"{key} '{value}'" for key, value in {**log.options, **options}.items())
        own.sql(f"CREATE TABLE {name} USING samsa OPTIONS ({said})")
        made.append(name)
        return name

    yield create
    for name in made:
        own.sql(f"DROP TABLE {name}")


def test_a_table_of_a_topic_is_read_and_written_by_name(
    local_log: Given, own: SparkSession, catalog: Callable[..., str], tmp_path: Path
):
    topic = local_log.topic()
    local_log.append(topic, 0, a_batch(b"a", b"b"))
    name = catalog(local_log, subscribe=topic)
    own.sql(f"INSERT INTO {name} (key, value) VALUES (X'6B', encode('c', 'utf-8'))")
    rows = own.sql(f"SELECT string(value) v FROM {name} ORDER BY offset").collect()
    assert [row.v for row in rows] == ["a", "b", "c"]
    later = f'SELECT * FROM {name} WITH (startingOffsets \'{{"{topic}": {{"0": 2}}}}\')'
    assert own.sql(later).count() == 1
    query = (
        own.readStream.option("startingOffsets", "earliest")
        .table(name)
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "copy"))
    )
    query.awaitTermination()
    assert own.read.parquet(str(tmp_path / "copy")).count() == 3


def test_the_example_on_the_page_about_spark(local_log: Given, own: SparkSession):
    """As it is written, but for the folder."""
    (example,) = code(ROOT / "docs" / "spark.md", "sql")
    folder = local_log.objects.removeprefix("file://").removesuffix("/objects")
    local_log.append(local_log.topic(name="orders"), 0, a_batch(b"a"))
    create, select, insert = example.replace("/var/lib/samsa", folder).split(";")[:3]
    own.sql(create)
    try:
        own.sql(insert)
        assert [row[0] for row in own.sql(select).collect()] == ["a", "b"]
    finally:
        own.sql("DROP TABLE orders")


def test_the_columns_of_a_table_in_the_catalog_keep_its_options():
    log = {"ledger": "sqlite:///l.db", "objects": "file:///o"}
    given = {**log, **BY_SPARK, "Subscribe": "orders", "kafka.isolation.level": "read_uncommitted"}
    schema = StructType.fromJson(DefaultSource(given).schema().jsonValue())
    found = table_options(schema, {"STARTINGOFFSETS": "latest", "subscribe": "others"})
    assert found == {
        **log,
        "STARTINGOFFSETS": "latest",
        "subscribe": "others",
        "kafka.isolation.level": "read_uncommitted",
    }
    plain = DefaultSource({**log, "subscribe": "orders"}).schema()
    assert table_options(plain, {}) == {}, "other frames carry nothing along"


@pytest.mark.parametrize(
    ("options", "topic"),
    [
        ({"subscribe": "orders"}, "orders"),
        ({"subscribe": "orders", "topic": "others"}, "others"),
        ({"subscribe": "orders,others"}, None),
        ({"subscribePattern": "orders.*", "startingOffsets": "latest"}, None),
    ],
)
def test_rows_go_to_the_one_topic_that_a_table_reads(options: dict[str, str], topic: str | None):
    log = {"ledger": "sqlite:///l.db", "objects": "file:///o"}
    assert read_sink_options({**log, **BY_SPARK, **options}, streaming=False).topic == topic
    with pytest.raises(BadOption, match="did you mean 'topic'"):
        read_sink_options({**log, **options, "topics": "a"}, streaming=False)
