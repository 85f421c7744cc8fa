"""What jobs understand of their command lines, and what they show: no Spark is needed."""

import argparse
import os
from pathlib import Path

import pyspark
import pytest

from pyspark_samsa.errors import BadOption, SamsaError
from pyspark_samsa.jobs import compare, run, running, s3, topic_to_table
from pyspark_samsa.jobs.arguments import job_parser, moment, where_the_log_is
from pyspark_samsa.jobs.compare import shown
from pyspark_samsa.jobs.delta import PACKAGE, delta_conf
from pyspark_samsa.jobs.progress import bar, seen
from pyspark_samsa.jobs.running import sentence
from pyspark_samsa.jobs.sending import job_id


def given(*words: str) -> argparse.Namespace:
    return job_parser("replay", "From here to there.", "").parse_args(words)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1700000000000", 1_700_000_000_000),
        ("100000000000", 100_000_000_000),
        ("20260131", 1_769_817_600_000),
        ("20260131T08", 1_769_846_400_000),
        ("2026-01-31", 1_769_817_600_000),
        ("2026-01-31T08:00", 1_769_846_400_000),
        ("2026-01-31T08:00:00.5+01:00", 1_769_842_800_500),
    ],
)
def test_a_time_is_a_day_a_moment_or_milliseconds(text: str, ms: int):
    assert moment(text) == ms


@pytest.mark.parametrize(
    "text", ["2026", "202605", "20261301", "20260230", "1767225600", "9" * 15, "1969-12-31"]
)
def test_a_number_that_is_neither_a_day_nor_milliseconds_is_refused(text: str):
    """Seconds, say, would be taken for a moment in January of 1970."""
    with pytest.raises(argparse.ArgumentTypeError, match=text):
        moment(text)


def test_what_is_no_time_is_refused():
    with pytest.raises(argparse.ArgumentTypeError, match="'yesterday' is no time"):
        moment("yesterday")


def test_the_log_is_where_it_is_said_to_be_or_in_the_environment_or_in_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    for name in ("SAMSA_LEDGER", "SAMSA_OBJECTS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadOption, match="there is no ledger in"):
        where_the_log_is(given("--data", str(tmp_path)))
    (tmp_path / "ledger.db").touch()
    assert where_the_log_is(given("--data", str(tmp_path))) == {
        "ledger": f"sqlite://{tmp_path}/ledger.db",
        "objects": f"file://{tmp_path}/objects",
    }
    monkeypatch.setenv("SAMSA_LEDGER", "dynamodb://one")
    monkeypatch.setenv("SAMSA_OBJECTS", "s3://one")
    assert where_the_log_is(given("--ledger", "dynamodb://other")) == {
        "ledger": "dynamodb://other",
        "objects": "s3://one",
    }


def test_a_run_with_another_format_does_not_mix_it_into_the_tables_that_are_there(tmp_path: Path):
    """Its sinks would go on in the other format, and without the rows before."""
    (tmp_path / "out" / "tables" / "bronze_trucks").mkdir(parents=True)
    (tmp_path / "ledger.db").touch()
    table = tmp_path / "out" / "tables" / "gold"
    table.mkdir()
    asked = ["--out", str(tmp_path / "out"), "--data", str(tmp_path), "--format"]
    (table / "part.parquet").touch()
    with pytest.raises(SamsaError, match="gold is not in the format delta: --format parquet"):
        run.prepare(run.parser().parse_args([*asked, "delta"]))
    (table / "_delta_log").mkdir()
    with pytest.raises(SamsaError, match="gold is not in the format parquet: --format delta"):
        run.prepare(run.parser().parse_args([*asked, "parquet"]))


def test_a_job_without_a_log_ends_before_spark_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for name in ("SAMSA_LEDGER", "SAMSA_OBJECTS"):
        monkeypatch.delenv(name, raising=False)

    def session(*_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(running, "session", session)
    assert compare.main(["a", "b", "--data", str(tmp_path)]) == running.TROUBLE
    assert f"there is no ledger in {tmp_path}" in capsys.readouterr().err


def test_a_bar_is_as_long_as_what_is_done():
    assert bar(0, 0) == bar(0, 7) == f"[{'.' * 24}]"
    assert bar(1, 2) == f"[{'#' * 12}{'.' * 12}]"
    assert bar(7, 7) == f"[{'#' * 24}]"


def test_a_stage_that_is_no_longer_active_is_done():
    first = seen({}, {1: (0, 4), 2: (3, 8)})
    assert seen(first, {2: (5, 8), 3: (0, 2)}) == {1: (4, 4), 2: (5, 8), 3: (0, 2)}


def test_what_spark_wraps_in_stack_traces_is_one_sentence():
    wrapped = (
        "[PYTHON_DATA_SOURCE_ERROR] Failed to plan: Traceback (most recent call last):\n"
        '  File "reader.py", line 1, in x\n'
        "pyspark_samsa.errors.UnknownTopic: there is no topic 'x'\n\nJVM stacktrace: …"
    )
    assert sentence(wrapped) == "there is no topic 'x'"
    assert sentence("[PATH_NOT_FOUND] Path does not exist.\nand more") == (
        "[PATH_NOT_FOUND] Path does not exist."
    )


def test_the_same_command_is_the_same_job_and_another_one_is_not():
    assert job_id("replay", "a", None) == job_id("replay", "a", None)
    assert len({job_id("replay", "a", None), job_id("replay", "a", 1), job_id("x", "a", None)}) == 3


def test_who_names_jars_has_delta_s_among_them():
    assert delta_conf({})["spark.jars.packages"] == PACKAGE
    assert "spark.jars.packages" not in delta_conf({"spark.jars": "delta.jar"})
    both = {"spark.jars": "other.jar", "spark.jars.packages": "a:b:1"}
    assert delta_conf(both)["spark.jars.packages"] == "a:b:1"


def test_hadoop_s_client_of_s3_is_the_release_that_spark_has():
    (found,) = Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar")
    assert s3.PACKAGE.rpartition(":")[2] == found.stem.rpartition("-")[2]


@pytest.mark.parametrize(
    ("words", "packages"),
    [
        (["s3://b/t"], s3.PACKAGE),
        (["s3a://b/t"], s3.PACKAGE),
        (["tables/t", "--checkpoint", "s3://b/c"], s3.PACKAGE),
        (["s3://b/t", "--format", "delta"], f"{PACKAGE},{s3.PACKAGE}"),
        (["s3://b/t", "--conf", "spark.jars.packages=a:b:1"], "a:b:1"),
        (["s3://b/t", "--format", "delta", "--conf", "spark.jars=all.jar"], None),
        (["tables/s3"], None),
    ],
)
def test_a_table_in_s3_brings_what_reads_it_unless_the_user_does(
    words: list[str], packages: str | None
):
    conf = running.conf(topic_to_table.parser().parse_args(["orders", *words]))
    assert conf.get("spark.jars.packages") == packages
    in_s3 = any("s3:" in word or "s3a:" in word for word in words)
    assert ("spark.hadoop.fs.s3.impl" in conf) == in_s3


def test_the_user_s_own_settings_of_s3_stay():
    name = "spark.hadoop.fs.s3a.aws.credentials.provider"
    words = ["orders", "s3://b/t", "--conf", f"{name}=Mine"]
    assert running.conf(topic_to_table.parser().parse_args(words))[name] == "Mine"


@pytest.mark.parametrize("name", ["SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS"])
def test_a_log_that_the_user_has_configured_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, name: str
):
    before = {"SPARK_LOCAL_IP": "127.0.0.1", name: "mine"}
    monkeypatch.setattr(os, "environ", dict(before))
    running.be_quiet()
    assert os.environ == before


def test_bytes_are_shown_as_text_and_not_too_many():
    assert [shown(None), shown(b"a"), shown(b"\xff")] == ["null", "a", "\\xff"]
    assert shown(b"x" * 61) == "x" * 60 + "…"
