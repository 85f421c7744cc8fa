"""A broker under load is killed with SIGKILL, again and again, and starts again on its data."""

import time
from pathlib import Path

from crash.load import Load
from crash.seeds import seeded
from server.process import a_samsa

KILLS = 21


def test_what_was_acknowledged_survives_twenty_one_kills(tmp_path: Path) -> None:
    moments = seeded()
    with a_samsa(tmp_path) as samsa:
        load = Load(moments, [samsa.address])
        for _ in range(KILLS):
            load.wait_for_progress()
            time.sleep(moments.uniform(0, 0.5))
            samsa.kill()
            samsa.again()
        load.wait_for_progress()
        load.finish()
        # Once more with nothing in flight: what is there now is on disk, or it is not there.
        samsa.kill()
        samsa.again()
        load.keeps_its_promises(samsa.address)
    assert all(len(producer.acknowledged) > KILLS for producer in load.producers)
