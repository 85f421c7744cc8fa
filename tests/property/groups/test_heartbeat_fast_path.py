"""A heartbeat that is answered without a step is answered as a step would, and most are."""

import pytest
from property.groups import world
from property.groups.play import run

from samsa.groups import ClassicGroup, Heartbeat, answer_heartbeat, quieted

SCHEDULES = 60


@pytest.mark.thorough
@pytest.mark.parametrize("kinds", ["classic", "mixed"])
def test_heartbeats_that_need_no_step_say_what_a_step_says(kinds, monkeypatch):
    whole, quick, slow = world.steps, [], []

    def steps(group, requests, now_ms, settings, heartbeats):
        done = whole(group, requests, now_ms, settings, heartbeats)
        if len(requests) == 1 and isinstance(requests[0], Heartbeat):
            known = group and quieted(group, now_ms, settings, heartbeats)
            answer = answer_heartbeat(known, requests[0], now_ms, heartbeats.answered_by)
            changed = done.group is not group
            if answer is not None:
                assert (changed, done.answers) == (False, [answer])
                quick.append(answer)
            elif isinstance(group, ClassicGroup) and not changed and not done.answers[0].error:
                slow.append(done.answers[0])
        return done

    monkeypatch.setattr(world, "steps", steps)
    for seed in range(SCHEDULES):
        assert run(seed, kinds).violation is None
    assert {answer.error is None for answer in quick} == {True, False}
    assert len(slow) < len(quick) / 100
