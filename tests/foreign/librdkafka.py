"""librdkafka's own tests: its program, which runs the parts of a test whose names hold a word."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from support.needs import librdkafka_tests

SECONDS = 120
KAFKA = "4.0.0"
"""What a test that asks for a version is told."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
VERDICT = re.compile(r"\[ do_test_(\w+):\d+.*: (PASS|SKIP)")
WHOLE = re.compile(r"={5,} Test \w+ (PASSED|FAILED|SKIPPED) ={5,}")


def run(test: str, part: str, settings: Mapping[str, str], folder: Path) -> tuple[list[str], str]:
    """The verdicts on the parts, then on the test, and all that was printed."""
    folder.mkdir()
    lines = [f"{name}={value}\n" for name, value in settings.items()]
    (folder / "test.conf").write_text("".join(lines))
    asked = {"TESTS": test, "SUBTESTS": part, "TEST_KAFKA_VERSION": KAFKA}
    done = subprocess.run(
        [str(librdkafka_tests()), "-p1"],
        cwd=folder,
        env={**os.environ, **asked},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=SECONDS,
    )
    said = COLOURS.sub("", done.stdout)
    verdicts = [f"{name} {verdict}" for name, verdict in VERDICT.findall(said)]
    return [*verdicts, *WHOLE.findall(said), f"exit {done.returncode}"], said
