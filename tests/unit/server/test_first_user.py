"""The first user of a closed broker, when it starts and when it starts again."""

import logging
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from faults.inside import TurnedClock

from samsa.access.view import SecurityView
from samsa.local.sqlite_groups import SqliteGroups
from samsa.security.scram import ScramMechanism
from samsa_broker.server.security_settings import FirstUser, FirstUserExists, make_user

ADMIN = FirstUser("admin", "made at the first start", is_fresh=True)
Process = Callable[[], SecurityView]


@pytest.fixture
def process(tmp_path: Path) -> Process:
    store, words = SqliteGroups(str(tmp_path / "ledger.db")), count()
    return lambda: SecurityView(store, TurnedClock(), lambda: f"w{next(words)}")


def fits(view: SecurityView, password: str) -> bool:
    held = view.credential(ScramMechanism.SCRAM_SHA_512, "admin")
    return held is not None and held.fits(password)


async def test_a_user_who_exists_does_not_get_a_password_that_is_of_no_use(process: Process):
    await make_user(process(), ADMIN)
    again = process()
    with pytest.raises(FirstUserExists):
        await make_user(again, FirstUser("admin", "made again", is_fresh=True))
    assert fits(again, ADMIN.password)


async def test_a_password_that_does_not_fit_any_more_is_warned_of(
    process: Process, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.WARNING)
    await make_user(process(), ADMIN)
    await make_user(process(), FirstUser("admin", ADMIN.password))
    assert caplog.messages == []
    await make_user(process(), FirstUser("admin", "an old one"))
    assert "another password than its file" in caplog.text
    assert "an old one" not in caplog.text
