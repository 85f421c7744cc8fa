import logging

import pytest


@pytest.fixture(autouse=True)
def _quiet_aiokafka(caplog: pytest.LogCaptureFixture) -> None:
    """It tells of every connection that it could not make, which here is most of them."""
    caplog.set_level(logging.CRITICAL + 1, "aiokafka")
