"""A Spark session that a user starts without any help of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pipeline.conftest import SHORT_LIVED
from pipeline.given import Given

from pyspark_samsa import DefaultSource
from pyspark_samsa.java import use_java
from pyspark_samsa.session import PYTHON, SUBMITTED, use_this_python

DRIVER = Path(__file__).with_name("plain_driver.py")


def test_a_plain_session_finds_the_format_once_the_package_is_imported(
    local_log: Given, tmp_path: Path
):
    """Though the first Python on the path is another one, which has no packages at all."""
    other = tmp_path / "bin" / "python3"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    use_java()
    conf = {**SHORT_LIVED, "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    settings = tmp_path / "spark-defaults.conf"
    settings.write_text("".join(f"{name} {value}\n" for name, value in conf.items()))
    environment = {name: value for name, value in os.environ.items() if name != PYTHON}
    environment |= {
        "PATH": f"{other.parent}{os.pathsep}{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(tmp_path),
    }
    topic = local_log.topic()
    command = [sys.executable, str(DRIVER), *local_log.options.values(), topic]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=280,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1"]


@pytest.mark.parametrize(
    ("before", "python"),
    [
        ({}, sys.executable),
        ({PYTHON: "/usr/bin/pypy"}, "/usr/bin/pypy"),
        ({SUBMITTED: "1"}, None),
    ],
    ids=["unset", "set by the user", "under spark-submit"],
)
def test_the_python_of_the_workers_is_this_one_unless_there_is_another(
    monkeypatch: pytest.MonkeyPatch, before: dict[str, str], python: str | None
):
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    for name in (PYTHON, SUBMITTED):
        monkeypatch.delenv(name, raising=False)
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    use_this_python(DefaultSource)
    assert os.environ.get(PYTHON) == python
