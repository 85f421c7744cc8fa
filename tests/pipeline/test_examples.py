"""The examples in Python on the pages about Spark: run as they are written, but for folders."""

from pathlib import Path
from typing import Any

from pipeline.given import Given
from pyspark.sql import SparkSession
from unit.docs.pages import ROOT, code

from samsa.records import Record, build

SPARK_PAGE = ROOT / "docs" / "spark.md"
PIPELINE_PAGE = ROOT / "pipeline" / "README.md"
TO_TABLE = """
    cast(key as string) as truck_id, timestamp as event_timestamp, offset, value is null as has_left
"""


def result_of(example: str, **names: Any) -> Any:
    """The value of an example that is one expression."""
    return eval(f"({example})", names)


def test_the_examples_that_write_and_read_a_topic(spark: SparkSession, local_log: Given):
    to_read, to_write, _ = code(SPARK_PAGE, "python")
    folder = local_log.objects.removeprefix("file://").removesuffix("/objects")
    local_log.topic(name="orders")
    orders = spark.range(3).selectExpr("cast(id as string) as customer", "id * 10 as total")
    options = "".join(f'.option("{name}", "{value}")' for name, value in local_log.options.items())
    result_of(to_write.replace(".mode(", f"{options}.mode("), orders=orders)
    found = result_of(to_read.replace("/var/lib/samsa", folder), spark=spark)
    assert {bytes(row.key): bytes(row.value) for row in found.collect()} == {
        b"%d" % n: b'{"customer":"%d","total":%d}' % (n, 10 * n) for n in range(3)
    }


def test_the_example_that_upserts_a_stream(spark: SparkSession, local_log: Given, tmp_path: Path):
    (example,) = code(PIPELINE_PAGE, "python")
    topic = local_log.topic()
    rows = [(b"truck-1", b"here"), (b"truck-2", b"there"), (b"truck-2", None)]
    records = [Record(n, 1_000 + n, key, value) for n, (key, value) in enumerate(rows)]
    local_log.append(topic, 0, build(records))
    stream = spark.readStream.format("samsa").options(
        **local_log.options, subscribe=topic, startingOffsets="earliest"
    )
    changes = stream.load().selectExpr(*TO_TABLE.split(", "))
    query = result_of(example.replace("///tables", f"//{tmp_path}"), changes=changes)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    table = spark.read.parquet(str(tmp_path / "latest"))
    assert [row.truck_id for row in table.collect()] == ["truck-1"]


def test_the_example_that_appends_to_an_iceberg_table(
    spark: SparkSession, local_log: Given, tmp_path: Path
):
    *_, example = code(SPARK_PAGE, "python")
    topic = local_log.topic()
    local_log.append(topic, 0, build([Record(0, 1_000, b"a", b"1")]))
    orders = spark.readStream.format("samsa").options(
        **local_log.options, subscribe=topic, startingOffsets="earliest"
    )
    query = result_of(
        example.replace("////tables", f"///{tmp_path}").replace("///tables", f"//{tmp_path}"),
        changes=orders.load(),
    )
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    (file,) = tmp_path.glob("lake/orders/data/timestamp_hour=1970-01-01-00/*.parquet")
    assert spark.read.parquet(str(file)).count() == 1
