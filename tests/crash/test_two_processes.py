"""Two processes on one data folder, one of them killed at a time: the other goes on."""

import time
from pathlib import Path

from crash.load import Load
from crash.seeds import seeded
from server.process import a_samsa

KILLS = 8


def test_what_was_acknowledged_survives_the_death_of_either_process(tmp_path: Path) -> None:
    moments = seeded()
    with (
        a_samsa(tmp_path / "one") as one,
        a_samsa(tmp_path / "two", "--data", str(tmp_path / "one" / "data")) as two,
    ):
        load = Load(moments, [one.address, two.address])
        for _ in range(KILLS):
            load.wait_for_progress()
            time.sleep(moments.uniform(0, 0.8))
            victim = moments.choice([one, two])
            victim.kill()
            load.wait_for_progress()
            time.sleep(moments.uniform(0, 0.5))
            victim.again()
        load.finish()
        for samsa in (one, two):
            load.keeps_its_promises(samsa.address)
