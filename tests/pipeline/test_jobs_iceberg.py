"""topic-to-table into Iceberg, in a real Spark, whose drivers die before and after a commit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pipeline.dying_catalog import AFTER, BEFORE
from pipeline.given import Given, a_batch
from pipeline.test_iceberg import NAME, Lake
from pipeline.test_jobs import words
from pyspark.sql import SparkSession

from pyspark_samsa.errors import BadOption
from pyspark_samsa.jobs import topic_to_table
from pyspark_samsa.jobs.iceberg import check_iceberg
from pyspark_samsa.jobs.running import TROUBLE
from samsa.records import Record, build

Fill = Callable[..., int]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


@pytest.fixture
def fill(local_log: Given, spark: SparkSession, lake: Lake) -> Fill:
    def fill(topic: str, *more: str, table: str = NAME, **properties: str) -> int:
        checkpoint = ["--checkpoint", str(lake.folder / "checkpoint"), "--catalog", "lake"]
        conf = [f"--catalog-conf={n}={v}" for n, v in {**lake.properties, **properties}.items()]
        iceberg = [topic, table, "--format", "iceberg", *checkpoint, *conf]
        return topic_to_table.main([*iceberg, *words(local_log), *more])

    return fill


def values(lake: Lake) -> list[bytes]:
    return sorted(lake.table().scan().to_arrow()["value"].to_pylist())


def test_a_topic_comes_into_an_iceberg_table_once_in_however_many_runs(
    local_log: Given, spark: SparkSession, lake: Lake, fill: Fill, capsys
):
    name = local_log.topic(2)
    headers = (("h", b"\x80"), ("h", None))
    local_log.append(name, 0, build([Record(0, 3_600_000, b"a", b"1", headers)]))
    local_log.append(
        name, 1, build([Record(0, 7_200_000, None, None), Record(1, 9_000_000, b"b", None)])
    )
    how = "--headers", "--partition-by", "hours(timestamp), bucket(4, key)"
    assert fill(name, *how) == 0
    assert "(iceberg, append)\nrows before\t0\nrows now\t3\n" in capsys.readouterr().out
    local_log.append(name, 0, a_batch(b"2", b"3"))
    assert fill(name, *how) == 0
    assert "rows before\t3\nrows now\t5\n" in capsys.readouterr().out
    expected = [
        (0, 0, b"a", b"1", 3_600_000, [("h", b"\x80"), ("h", None)]),
        (0, 1, b"k0", b"2", 1_000, None),
        (0, 2, b"k1", b"3", 1_001, None),
        (1, 0, None, None, 7_200_000, None),
        (1, 1, b"b", None, 9_000_000, None),
    ]
    files = [file.removeprefix("file://") for file in lake.named()]
    assert by_pyiceberg(lake) == [(*row, heads or []) for *row, heads in expected]
    assert by_duckdb(files) == expected
    assert by_spark(spark, files) == expected


def by_pyiceberg(lake: Lake) -> list[tuple[Any, ...]]:
    return as_rows(lake.table().scan().to_arrow().to_pylist())


def by_duckdb(files: list[str]) -> list[tuple[Any, ...]]:
    """It has no extension for Iceberg on PyPI: it reads the files that the snapshot names."""
    with duckdb.connect() as duck:
        return as_rows(duck.read_parquet(files).to_arrow_table().to_pylist())


def by_spark(spark: SparkSession, files: list[str]) -> list[tuple[Any, ...]]:
    """Iceberg has no jar for this release of Spark: the same."""
    return as_rows([row.asDict(recursive=True) for row in spark.read.parquet(*files).collect()])


def as_rows(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted(
        (
            row["partition"], row["offset"], _bytes(row["key"]), _bytes(row["value"]),
            round(row["timestamp"].timestamp() * 1_000),
            row["headers"] and [(h["key"], _bytes(h["value"])) for h in row["headers"]],
        )
        for row in found
    )  # fmt: skip


def _bytes(data: bytes | bytearray | None) -> bytes | None:
    return None if data is None else bytes(data)


@pytest.mark.parametrize("dies", [BEFORE, AFTER])
def test_a_driver_that_dies_in_its_commit_leaves_every_row_there_once(
    local_log: Given, spark: SparkSession, lake: Lake, fill: Fill, monkeypatch, dies: str
):
    """Spark then calls `abort`, in another process: files of a commit that was made must stay."""
    here = Path(__file__).parent
    monkeypatch.syspath_prepend(str(here))
    spark.sparkContext.addPyFile(str(here / "dying_catalog.py"))
    died = lake.folder / "died"
    own = {"py-catalog-impl": "dying_catalog.DyingCatalog", "dies": dies, "died": str(died)}
    del lake.properties["type"]
    name = local_log.topic(2)
    local_log.append(name, 0, a_batch(b"1", b"2"))
    local_log.append(name, 1, a_batch(b"3"))
    assert fill(name, **own) == TROUBLE
    assert died.exists()
    lake.properties["type"] = "sql"
    assert values(lake) == ([b"1", b"2", b"3"] if dies == AFTER else [])
    del lake.properties["type"]
    local_log.append(name, 1, a_batch(b"4"))
    assert fill(name, **own) == 0
    lake.properties["type"] = "sql"
    assert values(lake) == [b"1", b"2", b"3", b"4"]


def test_a_table_goes_on_with_its_checkpoint_and_the_flags_of_its_first_run_or_not_at_all(
    local_log: Given, lake: Lake, fill: Fill, capsys
):
    name = local_log.topic()
    local_log.append(name, 0, a_batch(b"1"))
    assert fill(name, "--partition-by", "topic") == 0

    def refused(*more: str, table: str = NAME) -> str:
        assert fill(name, *more, table=table) == TROUBLE
        said = capsys.readouterr().err
        assert values(lake) == [b"1"]
        return str(said)

    assert "partition-by was topic, and is not given now" in refused()
    assert "text was off, and is on now" in refused("--partition-by", "topic", "--text")
    # argparse takes the last --checkpoint
    other = str(lake.folder / "other")
    assert "its checkpoint was deleted" in refused("--checkpoint", other)
    lake.catalog.rename_table(NAME, "lake.renamed")
    assert fill(name, "--partition-by", "topic") == TROUBLE
    assert "lake.orders is gone: delete" in capsys.readouterr().err
    assert fill(name, "--partition-by", "topic", table="lake.renamed") == TROUBLE
    assert "table was lake.orders, and is lake.renamed now" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--catalog", "lake"], "are for --format iceberg"),
        (["--partition-by", "topic"], "are for --format iceberg"),
        (["--format", "iceberg"], "--checkpoint names a folder"),
        (["--format", "iceberg", "--mode", "latest"], "--mode latest makes tables in Parquet"),
        (["--format", "iceberg", "--checkpoint", "c", "--catalog-conf", "type=x"], "catalog"),
        (["--format", "iceberg", "--checkpoint", "c", "--partition-by", "a(b)"], "no transform"),
    ],
)
def test_what_cannot_be_is_refused_before_spark_starts(flags: list[str], said: str):
    with pytest.raises(BadOption, match=said):
        check_iceberg(topic_to_table.parser().parse_args(["orders", NAME, *flags]))
