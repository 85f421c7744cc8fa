"""Every rule of the commit protocol is needed: without any one of them some schedule goes wrong."""

import pytest
import simulation.broken_log
import simulation.broken_merges
import simulation.broken_stores  # noqa: F401 - these fill BROKEN
from simulation.play import run
from simulation.rules import BROKEN

SCHEDULES = 2_000
FIRST = {
    "bind again what may still be written": 70,
    "bind a batch again before the one that shared its fenced slot": 160,
    "take an extent back that was merged": 40,
    "close by the token alone, whatever slot it names now": 330,
    "delete records from inside a slot that is not indexed": 280,
}
"""Where the search begins, if it takes a while from the first seed."""


@pytest.mark.parametrize("what", BROKEN)
def test_the_simulation_objects_to(what):
    rules, first = BROKEN[what], FIRST.get(what, 0)
    seeds = (*range(first, SCHEDULES), *range(first))
    assert any(run(seed, rules).violation for seed in seeds)


def test_every_search_that_begins_later_is_for_a_rule():
    assert FIRST.keys() <= BROKEN.keys()
