import pytest
from support import watch
from support.stores import (
    aws_environment,
    environment,
    local_dynamodb,
    moto,
    stores,
    versity,
)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(watch)
    config.addinivalue_line(
        "markers", "waits: takes long and hardly a core, so that it may run beside others"
    )


__all__ = ["aws_environment", "environment", "local_dynamodb", "moto", "stores", "versity"]
