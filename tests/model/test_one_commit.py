"""The protocol that every append follows, explored by its model (model/README.md)."""

import pytest

from one_commit.explore import explore
from one_commit.processes import Setting
from one_commit.scenarios import RULES, SCENARIOS

STATES = 15_000
"""Of each scenario. `python -m one_commit` has no such limit."""
ENOUGH_TO_FAIL = 80_000

PLAYED = [
    pytest.param(scenario.processes, version, id=f"{name}-v{version}")
    for name, scenario in SCENARIOS.items()
    for version in scenario.versions
]


@pytest.mark.parametrize(("processes", "version"), PLAYED)
def test_every_invariant_holds_in_the_first_states(processes, version):
    found = explore(processes, Setting(version), STATES)
    assert found.fault is None, found.path
    assert found.is_whole or found.states > STATES


@pytest.mark.parametrize("rule", RULES)
def test_without_any_one_of_its_rules_the_protocol_breaks(rule):
    scenario, version = SCENARIOS[RULES[rule].scenario], RULES[rule].version
    found = explore(scenario.processes, Setting(version, frozenset([rule])), ENOUGH_TO_FAIL)
    assert found.fault is not None
    assert len(found.path) > 2
