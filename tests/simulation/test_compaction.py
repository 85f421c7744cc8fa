"""Schedules with compaction: crashes anywhere, two janitors, merges, retention, late writers.

They are the schedules of the log itself, with keys: SAMSA_SIM_SEED plays one of those here too.
"""

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from simulation.compactors import BROKEN_COMPACTION, compacting, small_groups
from simulation.play import run

SCHEDULES = 120
MOST = 2_000
SEED = os.environ.get("SAMSA_SIM_SEED")
PATHS = {
    "a round of compaction ended": 12,
    "a round was given up": 12,
    "a round went on where one left off": 12,
    "a round made the log smaller": 12,
    "an aborted transaction was forgotten": 5,
}
"""Each with how often it is taken, at least."""


@pytest.fixture(autouse=True)
def _small_groups() -> Iterator[None]:
    with small_groups():
        yield


if SEED:

    def test_the_schedule_of_this_seed_keeps_the_newest_of_every_key():
        finished = run(int(SEED), compacting())
        print(finished.story(len(finished.events)))
        assert finished.violation is None

else:

    def test_every_schedule_keeps_the_newest_of_every_key():
        paths: Counter[str] = Counter()
        for seed in range(SCHEDULES):
            finished = run(seed, compacting())
            assert finished.violation is None, finished.story()
            paths += finished.paths
        print(*(f"{paths[path]:8} {path}" for path in PATHS), sep="\n")
        assert not {path: paths[path] for path, least in PATHS.items() if paths[path] < least}

    @pytest.mark.parametrize("what", BROKEN_COMPACTION)
    def test_the_simulation_objects_to(what):
        rules, first = BROKEN_COMPACTION[what]
        assert any(run(seed, rules).violation for seed in range(first, first + MOST))
