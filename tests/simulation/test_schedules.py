"""Thousands of schedules, each decided by its seed. SAMSA_SIM_SEED=n plays one and tells it."""

import os
from collections import Counter

import pytest
from simulation.paths import EVERY_PATH
from simulation.play import run
from simulation.schedules import CHUNKS, play

SEED = os.environ.get("SAMSA_SIM_SEED")

if SEED:

    def test_the_schedule_of_this_seed_holds_every_invariant():
        finished = run(int(SEED))
        print(finished.story(len(finished.events)))
        assert finished.violation is None

else:

    @pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")
    def test_every_schedule_holds_every_invariant(seeds):
        play(seeds)

    def test_the_schedules_take_every_path_through_the_log():
        taken = sum(map(play, CHUNKS), start=Counter())
        print(*(f"{taken[path]:8} {path}" for path in EVERY_PATH), sep="\n")
        assert not {path: taken[path] for path in EVERY_PATH if taken[path] < 5}
