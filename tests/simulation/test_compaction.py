"""Schedules with compaction: crashes anywhere, two janitors, merges, retention, late writers.

They are the schedules of the log itself, with keys: SAMSA_SIM_SEED plays one of those here too.
"""

import os
from collections import Counter

import pytest
from simulation.compactors import BROKEN_COMPACTION, compacting
from simulation.play import run

SCHEDULES = 120
MOST = 2_000
SEED = os.environ.get("SAMSA_SIM_SEED")
PATHS = (
    "a round of compaction ended",
    "a round was given up",
    "a round went on where one left off",
    "a round made the log smaller",
)


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a round has several, with a crash between any two."""
    monkeypatch.setattr("samsa.log.compact_plan.GROUP_EXTENTS", 3)
    monkeypatch.setattr("samsa.log.compact_plan.GROUP_BYTES", 600)


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
        assert not [path for path in PATHS if paths[path] < SCHEDULES // 10]

    @pytest.mark.parametrize("what", BROKEN_COMPACTION)
    def test_the_simulation_objects_to(what):
        rules, first = BROKEN_COMPACTION[what]
        assert any(run(seed, rules).violation for seed in range(first, first + MOST))
