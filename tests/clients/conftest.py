import itertools
import os
import uuid
from collections.abc import Callable, Iterator

import pytest
from clients.adapters.confluent import Confluent
from clients.client import Client
from clients.probe import is_ready
from clients.registry import Clients
from support.broker import RUNNING, Broker, a_broker
from support.chain import a_chain
from support.kafka import a_kafka
from support.stores import places
from support.waiting import eventually

LOOKS_OFTEN = "transaction.abort.timed.out.transaction.cleanup.interval.ms=200"
"""For transactions that have timed out; by default every 10 s."""


@pytest.fixture(scope="session", params=["samsa-up", "chain"])
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    """One process, and the serverless bundle: every client is to find the same broker in both."""
    folder = tmp_path_factory.mktemp("broker")
    if request.param == "chain":
        if RUNNING in os.environ:
            pytest.skip(f"{RUNNING} names the one broker to be tested")
        with a_chain(folder, places(request.getfixturevalue("stores"))) as running:
            yield running
        return
    with a_broker(folder) as running:
        yield running


@pytest.fixture(scope="session")
def apache_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """What Samsa is compared with."""
    with a_kafka(tmp_path_factory.mktemp("kafka"), LOOKS_OFTEN) as running:
        yield running


@pytest.fixture(scope="session")
def clients(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    made = Clients(broker.bootstrap, tmp_path_factory.mktemp("clients"))
    yield made
    made.close()


@pytest.fixture
def client(clients: Clients, name: str) -> Client:
    """The client that the test's parameter names."""
    return clients[name]


@pytest.fixture(scope="session")
def new_name() -> Callable[[], str]:
    """Names of topics that nobody has used: a broker that already ran may hold others."""
    session = uuid.uuid4().hex[:8]
    numbers = itertools.count()
    return lambda: f"topic-{session}-{next(numbers)}"


@pytest.fixture(scope="session")
def new_topic(broker: Broker, new_name: Callable[[], str]) -> Callable[..., str]:
    """Makes a topic with one partition, or as asked, and gives its name."""

    maker = Confluent(broker.bootstrap)

    def make(partitions: int = 1, **config: str) -> str:
        topic = new_name()
        dotted = {key.replace("_", "."): value for key, value in config.items()}
        maker.create_topic(topic, partitions, dotted)
        if not broker.ours:
            # Apache Kafka answers before its partitions have leaders.
            assert eventually(lambda: is_ready(broker, topic, partitions))
        return topic

    return make
