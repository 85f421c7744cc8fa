"""A short, repeatable run of the fuzzer; it can be run for hours by hand."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.tools import require_module

TARGET = Path(__file__).with_name("fuzz_decoder.py")


@pytest.mark.thorough
def test_twenty_thousand_fuzzed_bodies_find_nothing(tmp_path):
    require_module("atheris", "it drives the fuzzer")
    command = [sys.executable, TARGET, "-runs=20000", "-seed=1", "-max_len=256"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "Done 20000 runs" in done.stderr
