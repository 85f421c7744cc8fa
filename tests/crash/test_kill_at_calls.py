"""A process is killed with SIGKILL at its calls to DynamoDB and S3, while another appends, too.

`python tests/crash/play.py --kills 500` does it at every call of a run.
"""

from itertools import product
from pathlib import Path

import pytest
from crash.killing import a_scene
from crash.kills import Moment
from crash.seeds import seeded

CALLS = ("PUT object", "commit", "index", "evict")
"""Those of an append; of settling; and of eviction."""
LATEST = 5
"""Of the calls of a kind since the process began."""


@pytest.mark.waits
def test_a_process_that_is_killed_at_any_call_loses_and_hides_and_repeats_nothing(
    tmp_path: Path, stores: tuple[str, str]
) -> None:
    moments = seeded()
    plan = list(product(CALLS, Moment))
    moments.shuffle(plan)
    with a_scene(tmp_path, *stores, moments) as scene:
        for call, moment in plan:
            scene.kill(moment, moments.randint(1, LATEST), call)
        figures = scene.finish()
    print(dict(figures))
    assert sorted(scene.kills.met, key=str) == sorted(plan, key=str)
    assert figures["acknowledged"] > 10 * len(plan)
