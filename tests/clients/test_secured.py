"""Every client reaches a secured broker, by a password and by a certificate, and no further than
its ACLs let it."""

from collections.abc import Iterator

import pytest
from clients.registry import NAMES
from clients.samples import SAMPLES
from clients.secured import PREFIX, Secured, a_secured_broker, make
from confluent_kafka import KafkaException
from support.broker import RUNNING


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    import os

    if RUNNING in os.environ:
        pytest.skip(f"{RUNNING} names the one broker to be tested")
    with a_secured_broker(tmp_path_factory.mktemp("secured")) as running:
        yield running


@pytest.mark.parametrize("way", ["scram", "certificate"])
@pytest.mark.parametrize("name", NAMES)
def test_a_client_that_says_who_it_is_writes_and_reads(secured: Secured, name: str, way: str):
    topic = f"{PREFIX}{name}-{way}"
    client = make(name, secured, is_scram=way == "scram")
    try:
        client.produce(topic, SAMPLES, partition=0)
        found = client.consume(topic, "earliest", len(SAMPLES), partition=0)
    finally:
        client.close()
    assert [record.content for record in found] == [record.content for record in SAMPLES]
    mechanism = "SCRAM-SHA-512" if way == "scram" else "certificate"
    assert "login principal=User:alice" in secured.audit()
    assert f"mechanism={mechanism}" in secured.audit()


@pytest.mark.parametrize("way", ["scram", "certificate"])
def test_a_client_reads_and_writes_nothing_else(secured: Secured, way: str):
    client = make("confluent", secured, is_scram=way == "scram")
    with pytest.raises((KafkaException, RuntimeError)):
        client.create_topic("others", 1, {})
    assert "operation=CREATE" in secured.audit()
    assert "others" not in client.describe().topics


def test_no_secret_is_in_the_logs(secured: Secured):
    make("confluent", secured, is_scram=True).describe()
    assert "secret" not in secured.audit()
