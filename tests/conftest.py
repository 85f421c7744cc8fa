import pytest
from hypothesis import settings
from support import watch
from support.stores import (
    aws_environment,
    embedded,
    environment,
    local_dynamodb,
    moto,
    stores,
    versity,
)

# A deadline of Hypothesis is wall time: a test would fail because the machine is busy.
settings.register_profile("samsa", deadline=None)
settings.load_profile("samsa")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(watch)
    config.addinivalue_line(
        "markers", "waits: takes long and hardly a core, so that it may run beside others"
    )
    config.addinivalue_line(
        "markers", "long: takes minutes, so that it runs first: nobody waits for it at the end"
    )
    config.addinivalue_line(
        "markers", "thorough: tries many more cases of the same; `make quick` leaves it out"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


__all__ = [
    "aws_environment",
    "embedded",
    "environment",
    "local_dynamodb",
    "moto",
    "stores",
    "versity",
]
