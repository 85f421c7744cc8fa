"""kafka-python's own integration tests, from its sdist, run with the client that lies beside them.

The sdist has the tests but not all that they import: see sources/kafka_python/test.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from foreign.secured import SecuredBroker
from support.needs import kafka_python_tests

TESTS = Path("test") / "integration"
SECONDS = 200
VERDICT = re.compile(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS) \S+::(\w+)|^(SKIPPED) (.*)", re.MULTILINE)


def files() -> set[str]:
    return {file.name for file in (kafka_python_tests() / TESTS).glob("test_*.py")}


def run(file: str, but: Iterable[str], bootstrap: str) -> tuple[dict[str, str], str]:
    """The verdict on each test of a file, and all that was printed."""
    path = f"{TESTS}/{file}"
    choice = [path, *(f"--deselect={path}::{name}" for name in but)]
    return _run(choice, {"KAFKA_URI": f"kafka://{bootstrap}"})


def run_one(file: str, name: str, bootstrap: str) -> tuple[dict[str, str], str]:
    return _run([f"{TESTS}/{file}::{name}"], {"KAFKA_URI": f"kafka://{bootstrap}"})


def run_secured(file: str, broker: SecuredBroker) -> tuple[dict[str, str], str]:
    """Of a file that wants a broker with SASL or TLS."""
    place = {"ports": broker.ports, "folder": str(broker.folder)}
    return _run(["-p", "test.running", f"{TESTS}/{file}"], {"SECURED": json.dumps(place)})


def _run(choice: Iterable[str], variables: Mapping[str, str]) -> tuple[dict[str, str], str]:
    place = kafka_python_tests()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-rA", "--tb=short", "--timeout=60"),
            *("-p", "pytest_timeout", "-p", "no:cacheprovider", "-p", "no:logging"),
            *choice,
        ],
        cwd=place,
        env={**outside(), **settings(place), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    return verdicts(done.stdout), done.stdout


def outside() -> dict[str, str]:
    """The environment, without what the pytest around it says to its own processes."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}


def settings(place: Path) -> dict[str, str]:
    return {
        "KAFKA_VERSION": "4.3",
        # Only looked for: where Kafka would be if they had to start it.
        "KAFKA_ROOT": str(place),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def verdicts(said: str) -> dict[str, str]:
    """By test, the worst of its parameters; a skipped one goes by the place that pytest tells."""
    found: dict[str, str] = {}
    for verdict, name, skipped, where in VERDICT.findall(said):
        if found.get(name or where, "PASSED") == "PASSED":
            found[name or where] = verdict or skipped
    return found
