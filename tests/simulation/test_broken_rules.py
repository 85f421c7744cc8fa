"""Every rule of the commit protocol is needed: without any one of them some schedule goes wrong."""

import pytest
import simulation.broken_log
import simulation.broken_merges
import simulation.broken_stores  # noqa: F401 - these fill BROKEN
from simulation.play import run
from simulation.rules import BROKEN

SCHEDULES = 2_000


@pytest.mark.parametrize("what", BROKEN)
def test_the_simulation_objects_to(what):
    rules = BROKEN[what]
    assert any(run(seed, rules).violation for seed in range(SCHEDULES))
