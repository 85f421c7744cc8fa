from collections.abc import Iterator

import pytest

from samsa_broker.testing import SamsaBroker
from samsa_broker.testing.broker import a_fresh_broker
from samsa_broker.testing.hosts import MODES, Host, open_host


@pytest.fixture(scope="session", params=MODES)
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    host = open_host(request.param)
    yield host
    host.close()


@pytest.fixture
def broker(host: Host) -> Iterator[SamsaBroker]:
    """One in each mode: what a test may do does not depend on it."""
    yield from a_fresh_broker(host)
