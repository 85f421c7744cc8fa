import subprocess
import sys
from pathlib import Path

from support import watch

HANGS = """
import time
import pytest

def test_fails():
    assert "the reason" == ""

@pytest.mark.timeout(1)
def test_hangs_again_when_it_is_interrupted():
    try:
        time.sleep(600)
    finally:
        time.sleep(600)
"""
HASTY = """
import sys
import pytest
from support import watch

watch.PATIENCE_S = 1
sys.exit(pytest.main(["-q", "-c", sys.argv[1], sys.argv[2]], [watch]))
"""


def test_a_run_that_hangs_ends_and_says_where_and_what_failed_before(tmp_path: Path):
    (tmp_path / "pytest.ini").write_text("[pytest]\ntimeout = 60\n")
    (tmp_path / "test_it.py").write_text(HANGS)
    done = subprocess.run(
        [sys.executable, "-c", HASTY, tmp_path / "pytest.ini", tmp_path / "test_it.py"],
        cwd=Path(watch.__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "test_it.py::test_fails (call) AssertionError: assert 'the reason' == ''" in done.stdout
    assert "in test_hangs_again_when_it_is_interrupted" in done.stderr
