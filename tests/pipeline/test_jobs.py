"""Jobs over topics and tables, in a real Spark."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pipeline.conftest import SHORT_LIVED
from pipeline.given import Given
from pyspark.sql import SparkSession

from pyspark_samsa.jobs import compare, table_to_topic, topic_to_table
from pyspark_samsa.jobs.folders import Folder
from pyspark_samsa.jobs.running import TROUBLE
from samsa.records import Record, build

Pair = tuple[bytes | None, bytes | None]
FORMATS = ["parquet", "delta"]
SAMSA = Path(sys.executable).with_name("samsa")


def batch(*pairs: Pair, at: int = 1_000) -> bytes:
    return build([Record(n, at + n, key, value) for n, (key, value) in enumerate(pairs)])


def words(log: Given) -> list[str]:
    return ["--ledger", log.ledger, "--objects", log.objects]


@pytest.fixture
def to_table(local_log: Given, spark: SparkSession, tmp_path: Path) -> Callable[..., int]:
    def to_table(topic: str, *more: str) -> int:
        return topic_to_table.main([topic, str(tmp_path / "table"), *words(local_log), *more])

    return to_table


@pytest.fixture
def content(spark: SparkSession, tmp_path: Path) -> Callable[..., list[tuple[Any, ...]]]:
    """Of the table: partition, offset, key and value."""

    def content(kind: str) -> list[tuple[Any, ...]]:
        table = spark.read.format(kind).load(str(tmp_path / "table"))
        rows = table.select("partition", "offset", "key", "value").collect()
        return sorted(
            (r.partition, r.offset, r.key and bytes(r.key), r.value and bytes(r.value))
            for r in rows
        )

    return content


@pytest.mark.parametrize("kind", FORMATS)
def test_every_record_comes_into_the_table_once_in_however_many_runs(
    local_log: Given, to_table: Callable[..., int], content: Callable[..., Any], capsys, kind: str
):
    name = local_log.topic(2)
    local_log.fill(
        {(name, 0): [batch((b"a", b"1"), (None, b"2"))], (name, 1): [batch((b"b", None))]}
    )
    first = [(0, 0, b"a", b"1"), (0, 1, None, b"2"), (1, 0, b"b", None)]
    assert to_table(name, "--format", kind) == 0
    assert content(kind) == first
    assert "rows now\t3" in capsys.readouterr().out
    assert to_table(name, "--format", kind) == 0
    assert content(kind) == first
    local_log.append(name, 1, batch((b"a", b"4")))
    assert to_table(name, "--format", kind) == 0
    assert content(kind) == [*first, (1, 1, b"a", b"4")]
    assert "rows before\t3\nrows now\t4\n" in capsys.readouterr().out


@pytest.mark.parametrize("kind", FORMATS)
def test_the_latest_of_each_key_is_kept_and_what_has_no_value_goes(
    local_log: Given, to_table: Callable[..., int], content: Callable[..., Any], kind: str
):
    name = local_log.topic(2)
    latest = ("--mode", "latest", "--format", kind)
    # In one partition the offset decides, though its clock went back; between two the time does.
    local_log.append(name, 0, batch((b"a", b"old"), at=9_000), batch((b"a", b"new"), at=2_000))
    local_log.append(name, 0, batch((b"b", b"b"), (b"c", b"c"), (None, b"nobody's"), at=3_000))
    local_log.append(name, 1, batch((b"b", b"later"), (b"a", b"earlier")))
    local_log.append(name, 1, batch((b"b", b"latest"), at=8_000))
    assert to_table(name, *latest) == 0
    assert content(kind) == [(0, 1, b"a", b"new"), (0, 3, b"c", b"c"), (1, 2, b"b", b"latest")]
    local_log.append(name, 0, batch((b"c", None), (b"d", None), (b"e", b"e"), at=9_000))
    local_log.append(name, 0, batch((b"b", b"too early"), at=4_000))
    assert to_table(name, *latest) == 0
    assert content(kind) == [(0, 1, b"a", b"new"), (0, 7, b"e", b"e"), (1, 2, b"b", b"latest")]


def test_whoever_ends_between_two_renames_loses_no_table(
    local_log: Given, to_table: Callable[..., int], content: Callable[..., Any], tmp_path: Path
):
    name = local_log.topic()
    local_log.append(name, 0, batch((b"a", b"1"), (b"b", b"2")))
    assert to_table(name, "--mode", "latest") == 0
    (tmp_path / "table").rename(tmp_path / "table.old")
    (tmp_path / "table.new").mkdir()
    local_log.append(name, 0, batch((b"b", b"3")))
    assert to_table(name, "--mode", "latest") == 0
    assert content("parquet") == [(0, 0, b"a", b"1"), (0, 2, b"b", b"3")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table", "table.latest.checkpoint"]


def test_a_table_and_its_checkpoint_are_there_together_or_not_at_all(
    local_log: Given, spark: SparkSession, to_table: Callable[..., int], capsys, tmp_path: Path
):
    name = local_log.topic()
    assert to_table(name) == 0  # of an empty topic there is no table yet
    local_log.append(name, 0, batch((b"a", b"1")))
    assert to_table(name) == 0
    assert to_table(name, "--mode", "latest") == TROUBLE
    assert "a table of another kind" in capsys.readouterr().err
    Folder(spark, str(tmp_path / "table")).remove()
    assert to_table(name) == TROUBLE
    assert "is gone: delete" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        ([], ["--text"], "text was off, and is on now"),
        (["--headers"], [], "headers was on, and is off now"),
        (["--since", "2026-01-01"], ["--since", "2026-02-01"], "since was 1767225600000, and is"),
        ([], ["--format", "delta"], "--format parquet"),
        (["--format", "delta"], [], "--format delta"),
    ],
    ids=["text", "headers", "since", "delta", "parquet"],
)
def test_a_table_is_filled_by_the_flags_of_its_first_run_or_not_at_all(
    local_log: Given, to_table: Callable[..., int], capsys, tmp_path: Path,
    first: list[str], then: list[str], said: str,
):  # fmt: skip
    name = local_log.topic()
    local_log.append(name, 0, batch((b"a", b"1"), at=1_800_000_000_000))
    assert to_table(name, *first) == 0
    files = sorted(tmp_path.glob("table/**/*.parquet"))
    local_log.append(name, 0, batch((b"a", b"2"), at=1_800_000_000_000))
    assert to_table(name, *then) == TROUBLE
    assert said in capsys.readouterr().err
    assert sorted(tmp_path.glob("table/**/*.parquet")) == files
    where_it_began = ["--since"]  # may be left out later: it is where the first run began
    assert to_table(name, *(first if first[:1] != where_it_began else [])) == 0


def test_another_topic_is_not_mixed_into_a_table(
    local_log: Given, to_table: Callable[..., int], capsys
):
    name, other = local_log.topic(), local_log.topic()
    for topic in (name, other):
        local_log.append(topic, 0, batch((b"a", b"1")))
    assert to_table(name) == 0
    assert to_table(other, "--ignore-loss") == TROUBLE
    assert f"topic was {name}, and is {other} now" in capsys.readouterr().err


def test_a_table_that_an_older_release_has_begun_is_known_by_its_columns(
    local_log: Given, to_table: Callable[..., int], capsys, tmp_path: Path
):
    name = local_log.topic()
    local_log.append(name, 0, batch((b"a", b"1")))
    assert to_table(name, "--text", "--headers") == 0
    for kept in tmp_path.glob("table.append.checkpoint/*samsa.json*"):
        kept.unlink()
    assert to_table(name) == TROUBLE
    said = capsys.readouterr().err
    assert "text was on, and is off now; headers was on, and is off now" in said
    assert to_table(name, "--text", "--headers") == 0


def test_the_latest_of_a_topic_that_was_made_again_are_not_told_by_offsets(
    local_log: Given, to_table: Callable[..., int], capsys
):
    name = local_log.topic()
    local_log.append(name, 0, batch((b"b", b"1"), (b"a", b"old")))
    assert to_table(name, "--mode", "latest") == 0
    local_log.delete(name)
    local_log.topic(name=name)
    local_log.append(name, 0, batch((b"a", b"new")))
    assert to_table(name, "--mode", "latest", "--ignore-loss") == TROUBLE
    assert "to fill it anew" in capsys.readouterr().err


@pytest.mark.parametrize("job", [compare, table_to_topic])
def test_a_delta_table_is_not_read_as_the_parquet_files_it_is_made_of(
    local_log: Given, to_table: Callable[..., int], capsys, tmp_path: Path, job: Any
):
    """They have rows that were deleted since."""
    name, copy = local_log.topic(), local_log.topic()
    local_log.append(name, 0, batch((b"a", b"1")))
    assert to_table(name, "--format", "delta") == 0
    table = str(tmp_path / "table")
    command = [name, "--table", table] if job is compare else [table, copy]
    assert job.main([*command, *words(local_log)]) == TROUBLE
    assert "is not in the format parquet: --format delta" in capsys.readouterr().err
    assert job.main([*command, *words(local_log), "--format", "delta"]) == 0


def test_a_topic_that_was_made_again_comes_into_its_table_only_if_a_loss_is_allowed(
    local_log: Given, to_table: Callable[..., int], content: Callable[..., Any], capsys
):
    name = local_log.topic()
    local_log.append(name, 0, batch((b"a", b"1")))
    assert to_table(name) == 0
    local_log.delete(name)
    local_log.topic(name=name)
    local_log.append(name, 0, batch((b"b", b"2"), (b"c", b"3")))
    assert to_table(name) == TROUBLE
    assert "deleted, and made again" in capsys.readouterr().err
    assert content("parquet") == [(0, 0, b"a", b"1")]
    assert to_table(name, "--ignore-loss") == 0
    assert content("parquet") == [(0, 0, b"a", b"1"), (0, 0, b"b", b"2"), (0, 1, b"c", b"3")]


def test_what_cannot_be_done_is_said_in_a_sentence(local_log: Given, spark: SparkSession, capsys):
    local_log.topic(name="payments")
    assert compare.main(["payment", "payments", *words(local_log)]) == TROUBLE
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == ("samsa pipeline compare: there is no topic 'payment'; did you mean 'payments'?")
    assert compare.main(["payments", "payments", *words(local_log)]) == 0  # there is nothing
    assert "records in all of topic payments\t0\nkeys\t0\n" in capsys.readouterr().out
    assert compare.main(["payments", *words(local_log)]) == TROUBLE
    assert compare.main(["payments", "payments", "--data", "/nowhere"]) == TROUBLE
    assert "there is no ledger in /nowhere" in capsys.readouterr().err


@pytest.fixture(scope="module")
def three(local_log: Given) -> str:
    """One topic in three partitions, spread as nobody else would."""
    name = local_log.topic(3)
    local_log.fill(
        {
            (name, 0): [batch((b"a", b"1"), (b"b", b"2"))],
            (name, 1): [batch((None, b"3"), (b"c", None))],
            (name, 2): [batch((b"a", b"1"), at=50_000)],
        }
    )
    return name


SAME = [(b"c", None), (b"b", b"2"), (None, b"3"), (b"a", b"1"), (b"a", b"1")]


@pytest.mark.parametrize(
    ("there", "code", "said"),
    [
        (SAME, 0, ["keys that differ\t0", "keys\t4"]),
        (SAME[:-1], 1, ["a\tonly in topic {one}: 1", "keys that differ\t1"]),
        ([*SAME[:1], (b"b", b"x" * 70), *SAME[2:]], 1, ["b\tonly in topic {one}: 2\tonly", "xx…"]),
        ([(b"c", b""), *SAME[1:], (None, b"4")], 1,
         ["null\tonly in topic {other}: 4", "{one}: null"]),
        ([*SAME, *SAME], 1, ["a\tonly in topic {other}: 1 and 1 more", "{other}\t10"]),
    ],
)  # fmt: skip
def test_two_topics_are_equal_if_every_key_has_the_same_values(
    local_log: Given, three: str, spark, capsys, there: list[Pair], code: int, said: list[str]
):
    other = local_log.topic()
    local_log.append(other, 0, batch(*there))
    assert compare.main([three, other, *words(local_log)]) == code
    out = capsys.readouterr().out
    for each in said:
        assert each.format(one=three, other=other) in out


def test_a_topic_is_compared_with_its_table(
    local_log: Given, three: str, to_table: Callable[..., int], capsys, tmp_path: Path
):
    table = str(tmp_path / "table")
    assert to_table(three, "--text") == 0
    with_table = [three, "--table", table, *words(local_log)]
    assert compare.main(with_table) == 0
    late = ["--since", "1970-01-01T00:00:49"]
    assert compare.main([*with_table, *late]) == 1
    assert f"only in table {table}: 1" in capsys.readouterr().out


def test_the_latest_values_are_compared_with_a_table_of_them(
    local_log: Given, to_table: Callable[..., int], capsys
):
    name, other = local_log.topic(), local_log.topic()
    local_log.append(name, 0, batch((b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"b", None)))
    local_log.append(other, 0, batch((b"a", b"3")))
    assert compare.main([name, other, "--mode", "latest", *words(local_log)]) == 0
    assert compare.main([name, other, *words(local_log)]) == 1
    local_log.append(other, 0, batch((b"a", b"4"), (b"b", b"2")))
    assert compare.main([name, other, "--mode", "latest", *words(local_log)]) == 1
    assert f"a\tonly in topic {name}: 3\tonly in topic {other}: 4" in capsys.readouterr().out


def test_samsa_pipeline_starts_a_spark_of_its_own(local_log: Given, three: str):
    command = [SAMSA, "pipeline", "compare", three, three, *words(local_log), "--cores", "1"]
    command += [f"--conf={name}={value}" for name, value in SHORT_LIVED.items()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["keys\t4", "keys that differ\t0"]
    assert f"comparing topic {three} and all of topic {three}: " in done.stderr
    assert not re.findall(r".*(?:log4j|WARN |[Hh]ostname|native-hadoop).*", done.stderr)
