"""`make dist`: a wheel of each distribution, which has all that the checkout has."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.sam import ROOT
from unit.docs.pages import code

PROJECTS = ("layers/samsa", "websocket_api", "broker", "pipeline")
MADE = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
SHIPPED = {".py", ".pyi", ".typed", ".toml", ".html", ".css", ".js", ".svg", ".properties"}
SHOW = """
import sys
sys.path.insert(0, sys.argv[1])
import pyspark_samsa, pyspark_samsa_iceberg, pyspark_samsa_latest
import samsa, samsa_broker.cli.main, samsa_websocket.shim
formats = pyspark_samsa, pyspark_samsa_iceberg, pyspark_samsa_latest
for module in (samsa, samsa_websocket, samsa_broker, *formats):
    assert module.__file__.startswith(sys.argv[1]), module.__file__
raise SystemExit(samsa_broker.cli.main.main(["cost", "--table"]))
"""

TESTING = ROOT / "docs" / "testing.md"
WHERE = """
import os
import samsa_broker.testing.plugin

def test_where(pytestconfig):
    assert pytestconfig.pluginmanager.get_plugin("samsa") is samsa_broker.testing.plugin
    assert samsa_broker.testing.plugin.__file__.startswith(os.environ["PYTHONPATH"])
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """As `make dist` builds them, but from copies: a build leaves folders beside its sources."""
    folder = tmp_path_factory.mktemp("dist")
    for project in PROJECTS:
        source = shutil.copytree(ROOT / project, folder / "sources" / project, ignore=MADE)
        pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(source))
    return sorted(folder.glob("*.whl"))


def pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", *words[:1], "--quiet", "--no-deps", *words[1:]]
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(command, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_a_wheel_of_each_distribution(wheels: list[Path]):
    names = [wheel.name.partition("-")[0] for wheel in wheels]
    assert names == ["pyspark_samsa", "samsa_broker", "samsa_core", "samsa_websocket"]


def test_a_wheel_has_every_file_of_its_sources(wheels: list[Path]):
    shipped = {name for wheel in wheels for name in zipfile.ZipFile(wheel).namelist()}
    sources = {
        str(path.relative_to(ROOT / project / "src"))
        for project in PROJECTS
        for path in (ROOT / project / "src").rglob("*")
        if path.suffix in SHIPPED
    }
    assert len(sources) > 500
    assert sources <= shipped


def test_the_command_runs_from_the_wheels_alone(wheels: list[Path], tmp_path: Path):
    target = tmp_path / "installed"
    pip("install", "--target", str(target), *map(str, wheels))
    done = subprocess.run(
        [sys.executable, "-c", SHOW, str(target)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("|") > 20


def test_a_project_elsewhere_finds_the_fixtures_in_the_wheels(wheels: list[Path], tmp_path: Path):
    """The documented tests, in a folder of their own; what the wheels depend on is here."""
    target, project = tmp_path / "installed", tmp_path / "project"
    pip("install", "--target", str(target), *map(str, wheels))
    project.mkdir()
    tests = [block for block in code(TESTING, "python") if "def test_" in block]
    for number, block in enumerate(tests):
        (project / f"test_{number}.py").write_text(block)
    (project / "test_where.py").write_text(WHERE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
    )
    assert re.search(r"^4 passed", done.stdout, re.MULTILINE), done.stdout + done.stderr
