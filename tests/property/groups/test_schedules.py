"""Random members of both kinds that join, leave, crash, sleep and lose answers, while processes die
and time jumps: no partition is read or committed by two, everyone is answered or parked with a
deadline, and once everyone behaves the group becomes stable, with every partition read.
"""

import pytest
from property.groups.play import run

FEW, MORE = range(20), range(20, 150)


@pytest.mark.parametrize(
    "seeds", [FEW, pytest.param(MORE, marks=pytest.mark.thorough)], ids=["few", "more"]
)
@pytest.mark.parametrize("kinds", ["classic", "consumer", "mixed"])
def test_no_schedule_breaks_a_promise(kinds, seeds):
    for seed in seeds:
        finished = run(seed, kinds)
        assert finished.violation is None, finished.story()


def test_a_seed_tells_the_same_story_twice():
    assert run(7, "mixed").events == run(7, "mixed").events
