"""franz-go's own tests: built from the Go proxy at the version of go.mod, run as one program."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from support.needs import FRANZ_GO, franz_go_tests

SECONDS = 200
SETTINGS = {"KGO_TEST_RF": "1", "KGO_TEST_RECORDS": "10000", "KGO_LOG_LEVEL": "none"}
"""As for any one broker, and with fewer records: the half million of the default takes minutes."""

VERDICT = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)
FUNCTION = re.compile(r"^func (Test\w+)\(t \*testing\.T\) \{$(.*?)^\}$", re.MULTILINE | re.DOTALL)
DIALS = re.compile(r"\b(newTestClient|testClientOpts|getSeedBrokers|tmpTopic\w*|adm)\(")


def run(names: Sequence[str], bootstrap: str) -> tuple[dict[str, str], str]:
    """The verdict on each test and on its parts, and all that was printed.

    In one process, as its authors run them: what the first ones learn of the broker decides whether
    later ones skip.
    """
    one_of = f"-test.run=^({'|'.join(names)})$"
    done = subprocess.run(
        [str(franz_go_tests()), "-test.v", f"-test.timeout={SECONDS}s", one_of],
        env={**os.environ, **SETTINGS, "KGO_SEEDS": bootstrap},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=SECONDS + 10,
    )
    verdicts = {name: verdict for verdict, name in VERDICT.findall(done.stdout)}
    # A goroutine that outlives its test can still panic: then all have passed, and it has not.
    verdicts["the program"] = "FAIL" if done.returncode else "PASS"
    return verdicts, done.stdout


def that_dial() -> set[str]:
    """The tests that talk to a broker, as their source says; the others stay in their process."""
    command = ["go", "list", "-f", "{{.Dir}}", FRANZ_GO]
    cwd = franz_go_tests().parent
    said = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
    files = Path(said.stdout.strip()).glob("*_test.go")
    found = (one for file in files for one in FUNCTION.findall(file.read_text()))
    return {name for name, body in found if DIALS.search(body)}
