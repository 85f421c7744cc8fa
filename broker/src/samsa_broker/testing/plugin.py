"""The fixtures, for pytest, which finds them by itself when Samsa is installed.

Only this small module is imported by a run that uses none of them.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from samsa_broker.testing.broker import SamsaBroker
    from samsa_broker.testing.hosts import Host

MODE, CLIENT = "samsa_mode", "samsa_client"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        MODE,
        "where Samsa's broker runs: in a thread of the tests' process (thread, the default), or "
        "in a process beside it (process)",
        default="thread",
    )
    parser.addini(
        CLIENT,
        "the library of samsa_producer and samsa_consumer: confluent-kafka, kafka-python or "
        "aiokafka (auto: the first of them that is installed)",
        default="auto",
    )


@pytest.fixture(scope="session")
def _samsa_host(request: pytest.FixtureRequest) -> "Iterator[Host]":
    """One for all brokers of the session."""
    from samsa_broker.testing.errors import SamsaError
    from samsa_broker.testing.hosts import open_host

    try:
        host = open_host(str(request.config.getini(MODE)))
    except SamsaError as error:
        raise pytest.UsageError(f"{MODE}: {error}") from None
    yield host
    host.close()


@pytest.fixture
def samsa_settings() -> dict[str, Any]:
    """Of `samsa_broker`: the fields of `ClusterSettings`. To be overridden in a project."""
    return {}


@pytest.fixture
def samsa_broker(_samsa_host: "Host", samsa_settings: dict[str, Any]) -> "Iterator[SamsaBroker]":
    """A fresh Kafka broker for this test: no topics, no groups, all offsets from 0."""
    from samsa_broker.testing.broker import a_fresh_broker

    yield from a_fresh_broker(_samsa_host, **samsa_settings)


@pytest.fixture(scope="session")
def samsa_session_broker(_samsa_host: "Host") -> "Iterator[SamsaBroker]":
    """A Kafka broker that all tests of the session share."""
    from samsa_broker.testing.broker import a_fresh_broker

    yield from a_fresh_broker(_samsa_host)


@pytest.fixture
def _samsa_clients(samsa_broker: "SamsaBroker", request: pytest.FixtureRequest) -> Iterator[Any]:
    from samsa_broker.testing.clients import Clients

    clients = Clients(samsa_broker, str(request.config.getini(CLIENT)))
    yield clients
    samsa_broker.faults.clear()  # clients that wait for an answer could not be closed
    clients.close()


@pytest.fixture
def samsa_producer(_samsa_clients: Any) -> Callable[..., Any]:
    """Makes producers of `samsa_broker`: `samsa_producer(linger_ms=0)`. They are flushed and closed
    after the test."""
    make: Callable[..., Any] = _samsa_clients.producer
    return make


@pytest.fixture
def samsa_consumer(_samsa_clients: Any) -> Callable[..., Any]:
    """Makes consumers of `samsa_broker`: `samsa_consumer("orders", group="billing")`. They read
    from the beginning, and are closed after the test."""
    make: Callable[..., Any] = _samsa_clients.consumer
    return make
