"""The examples of docs/testing.md in other languages than Python, run as they are written.

Those in Python are run by tests/testing/test_plugin.py.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.needs import go_driver, java_driver, junit, kafkajs
from support.tools import require
from unit.docs.pages import ROOT, code

PAGE = ROOT / "docs" / "testing.md"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
SECONDS = 120


def example(language: str) -> str:
    (found,) = code(PAGE, language)
    return found


def said(command: list[str], folder: Path, **environment: str) -> str:
    """What it prints. It, and what it has started, has ended by then."""
    done = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PATH": PATH, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = done.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(done.pid, signal.SIGKILL)
        raise
    assert done.returncode == 0, output
    return output


def test_the_shell_script_waits_for_its_broker_and_uses_it(tmp_path: Path):
    (tmp_path / "example.sh").write_text(example("bash"))
    printed = said(["bash", "-eu", "example.sh"], tmp_path)
    assert "hello" in printed.splitlines()
    assert {path.name for path in tmp_path.iterdir()} == {"example.sh", "samsa.out"}


def test_the_steps_of_the_workflow_start_a_broker_that_a_later_step_reaches(tmp_path: Path):
    """All but the steps that fetch something, on a free port."""
    steps = yaml.safe_load(example("yaml"))["steps"]
    start, use = [step for step in steps if "pip install" not in step.get("run", "pip install")]
    assert use["env"] == {"KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9092"}
    script = start["run"].replace("--port 9092", "--port 0")
    script += "\necho hello | samsa produce greetings --bootstrap "
    script += "$(sed -n 's/^samsa: ready on //p' samsa.out)\nkill $!\n"
    assert "1 record(s) written" in said(["bash", "-e", "-c", script], tmp_path)


def test_the_test_in_java_passes(tmp_path: Path):
    require("javac", "an example is in Java")
    jars = f"{java_driver() / 'dependency'}/*"
    (tmp_path / "OrdersTest.java").write_text(example("java"))
    classes = f"{jars}{os.pathsep}{junit()}"
    said(["javac", "-cp", classes, "-d", "made", "OrdersTest.java"], tmp_path)
    run = ["java", "-jar", str(junit()), "execute", "--select-class", "OrdersTest"]
    on = os.pathsep.join(["made", *map(str, (java_driver() / "dependency").glob("*.jar"))])
    printed = said([*run, "--class-path", on], tmp_path)
    assert re.search(r"\b1 tests successful", printed), printed


def test_the_test_in_node_passes(tmp_path: Path):
    (tmp_path / "orders.test.js").write_text(example("javascript"))
    modules = str(kafkajs() / "node_modules")
    printed = said(
        ["node", "--test"], tmp_path, NODE_PATH=modules, KAFKAJS_NO_PARTITIONER_WARNING="1"
    )
    assert re.search(r"^# pass 1$", printed, re.MULTILINE), printed


def test_the_test_in_go_passes(tmp_path: Path):
    built = go_driver().parent
    for name in ("go.mod", "go.sum"):
        shutil.copy(built / name, tmp_path)
    (tmp_path / "orders_test.go").write_text(example("go"))
    printed = said(["go", "test", "-count=1", "-v", "."], tmp_path)
    assert "--- PASS: TestAnOrderIsStored" in printed


def test_the_workflow_is_as_github_wants_it(tmp_path: Path):
    steps = yaml.safe_load(example("yaml"))["steps"]
    job = {"runs-on": "ubuntu-latest", "steps": steps}
    (tmp_path / "test.yml").write_text(yaml.safe_dump({"on": "push", "jobs": {"test": job}}))
    said(["check-jsonschema", "--builtin-schema", "vendor.github-workflows", "test.yml"], tmp_path)


@pytest.mark.parametrize("language", ["bash", "java", "javascript", "go"])
def test_every_example_waits_for_the_line_that_never_changes(language: str):
    assert "samsa: ready on " in example(language)
