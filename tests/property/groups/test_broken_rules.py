"""Every rule of the coordinator is needed: without any one of them some schedule goes wrong."""

import pytest
from property.groups.broken import BROKEN
from property.groups.play import run

SCHEDULES = 150


@pytest.mark.thorough
@pytest.mark.parametrize("what", BROKEN)
def test_the_schedules_object_to(what, monkeypatch):
    broken = BROKEN[what]
    broken.take_out(monkeypatch)
    assert any(run(seed, broken.kinds).violation for seed in range(SCHEDULES))
