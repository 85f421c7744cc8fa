"""A seed is a schedule: nothing else, not even the order of a set, decides what happens."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from simulation.events import line
from simulation.play import run

SEEDS = range(0, 40, 5)
TESTS = Path(__file__).parent.parent


def trace(seed: int) -> str:
    return hashlib.sha256("\n".join(map(line, run(seed).events)).encode()).hexdigest()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_seed_gives_the_same_events(seed):
    assert trace(seed) == trace(seed)


def test_different_seeds_give_different_events():
    assert len({trace(seed) for seed in SEEDS}) == len(SEEDS)


def test_another_process_with_other_hashes_sees_the_same_events():
    program = f"from simulation.test_determinism import *; print(*map(trace, {SEEDS}))"
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(TESTS)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert told.stdout.split() == [trace(seed) for seed in SEEDS]
