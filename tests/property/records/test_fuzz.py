import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

TARGET = Path(__file__).with_name("fuzz_records.py")
FLAGS = ["-runs=100000", "-seed=1", "-max_len=400", "-timeout=10", "-rss_limit_mb=600"]


@pytest.mark.thorough
def test_a_hundred_thousand_fuzzed_inputs_give_a_value_or_a_record_error(tmp_path):
    if find_spec("atheris") is None:
        assert os.environ.get("CI") != "true", "continuous integration must fuzz"
        pytest.skip("atheris is not installed: it has no build for this platform")
    # A process counts what its parent had in memory as its own: the shell's, not this one's.
    run = subprocess.run(
        ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, str(TARGET), *FLAGS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    assert "Done 100000 runs" in run.stderr
