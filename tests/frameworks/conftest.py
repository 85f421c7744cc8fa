from collections.abc import Iterator

import pytest
from support.broker import Broker, a_broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with a_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running
