import os
from collections.abc import Iterator

import pytest
from foreign.secured import SecuredBroker, a_secured_broker
from support.broker import RUNNING, Broker, a_broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with a_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    if RUNNING in os.environ:
        pytest.skip(f"{RUNNING} names the one broker to be tested")
    with a_secured_broker(tmp_path_factory.mktemp("secured")) as running:
        yield running
