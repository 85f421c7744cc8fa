"""`samsa pipeline`: every word after the job's name is the job's own."""

import importlib.util
import sys
from types import SimpleNamespace

import pytest

from samsa_broker.cli import pipeline
from samsa_broker.cli.main import main


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["orders", "--where", "key = '--since'", "--", "-x"],
        ["--table", "tables/orders", "--mode=latest"],
    ],
)
def test_a_job_gets_its_words_as_they_are_and_its_answer_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, words: list[str]
):
    heard: dict[str, list[str]] = {}

    def job(name: str) -> SimpleNamespace:
        return SimpleNamespace(main=lambda argv: heard.update({name: argv}) or 7)

    monkeypatch.setattr(pipeline, "import_module", job)
    assert main(["pipeline", "table-to-topic", *words]) == 7
    assert heard == {"pyspark_samsa.jobs.table_to_topic": words}


@pytest.mark.parametrize("name", pipeline.JOBS)
def test_every_job_that_is_listed_is_there(name: str):
    assert importlib.util.find_spec(f"pyspark_samsa.jobs.{name.replace('-', '_')}")


@pytest.mark.parametrize("lacks", ["pyspark", "pyspark_samsa"])
def test_without_spark_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys, lacks: str
):
    monkeypatch.setattr(pipeline, "find_spec", lambda name: None if name == lacks else name)
    monkeypatch.setitem(sys.modules, "pyspark_samsa.jobs.compare", None)  # as if not installed
    assert main(["pipeline", "compare", "a", "b"]) == 1
    assert "pip install ./pipeline" in capsys.readouterr().err
