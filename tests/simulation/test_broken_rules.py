"""Every rule of the commit protocol is needed: without any one of them some schedule goes wrong."""

import pytest
import simulation.broken_log
import simulation.broken_merges
import simulation.broken_stores
import simulation.broken_transactions
import simulation.broken_windows  # noqa: F401 - these fill BROKEN
from simulation.play import run
from simulation.rules import BROKEN

SCHEDULES = 2_000
FIRST = {
    "look for an update that may still arrive": 105,
    "write a segment that nobody announced": 190,
    "list objects after counting the sweep": 90,
    "look for orphans in the index before the head": 65,
    "look for what was aborted before the head": 30,
    "look for what was aborted in the index only": 20,
}
"""Where the search begins, if it takes a while from the first seed."""


@pytest.mark.parametrize("what", BROKEN)
def test_the_simulation_objects_to(what):
    rules, first = BROKEN[what], FIRST.get(what, 0)
    seeds = (*range(first, SCHEDULES), *range(first))
    assert any(run(seed, rules).violation for seed in seeds)


def test_every_search_that_begins_later_is_for_a_rule():
    assert FIRST.keys() <= BROKEN.keys()
