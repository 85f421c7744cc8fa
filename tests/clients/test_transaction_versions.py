"""Which transactional requests the newest clients choose to send, as Samsa's features tell them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from clients.adapters.confluent import Confluent
from clients.registry import Clients
from clients.transactional import Producers
from support.broker import samsa_up
from support.kafka import free_ports
from support.request_log import RequestLog, a_request_log

from samsa.wire.apis import ApiKey

A_TRANSACTION = {
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.END_TXN,
    ApiKey.TXN_OFFSET_COMMIT,
    ApiKey.PRODUCE,
}

Transact = Callable[[str], dict[int, set[int]]]


@pytest.fixture
def transact(tmp_path: Path) -> Iterator[Transact]:
    """One transaction with a record and an offset by a client; what it sent for it."""
    (port,) = free_ports(1)
    with (
        samsa_up(tmp_path, "--advertise", f"127.0.0.1:{port}") as broker,
        a_request_log(port, broker) as log,
    ):
        clients = Clients(log.bootstrap, tmp_path)
        producers = Producers(clients, tmp_path / "sarama.log")

        def run(client: str) -> dict[int, set[int]]:
            Confluent(broker.bootstrap).create_topic("topic", 1, {})
            return sent_by(client, producers, log)

        yield run
        producers.close()
        clients.close()


def sent_by(client: str, producers: Producers, log: RequestLog) -> dict[int, set[int]]:
    producer = producers.open(client, "id")
    producer.begin()
    producer.send([("topic", 0)], ["value"])
    producer.send_offset("group", "topic", 1)
    producer.commit()
    return {key: set(log.versions[key]) for key in A_TRANSACTION if key in log.versions}


def test_the_java_client_uses_transaction_version_2(transact: Transact) -> None:
    assert transact("java") == {
        ApiKey.INIT_PRODUCER_ID: {5},
        ApiKey.PRODUCE: {13},
        ApiKey.TXN_OFFSET_COMMIT: {5},
        ApiKey.END_TXN: {5},
    }


def test_librdkafka_adds_partitions_and_offsets_by_itself(transact: Transact) -> None:
    sent = transact("confluent")
    assert sent.keys() == A_TRANSACTION
    assert max(sent[ApiKey.END_TXN]) < 5
    assert max(sent[ApiKey.PRODUCE]) < 12
