"""Every client reaches a secured broker, by a password and by a certificate, and no further than
its ACLs let it."""

import os
from collections.abc import Iterator

import pytest
from clients.adapters.confluent import Confluent
from clients.registry import NAMES
from clients.samples import SAMPLES
from clients.secured import (
    MECHANISM,
    PREFIX,
    Secured,
    a_secured_broker,
    librdkafka,
    make,
    with_token,
)
from confluent_kafka import KafkaException
from support.broker import RUNNING
from support.tokens import AUDIENCE, ISSUER, Issuer, published
from support.waiting import eventually


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture(scope="module")
def secured(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    if RUNNING in os.environ:
        pytest.skip(f"{RUNNING} names the one broker to be tested")
    with published(issuer) as url:
        tokens = ["--oauth-jwks", url, "--oauth-issuer", ISSUER, "--oauth-audience", AUDIENCE]
        mechanisms = ["--sasl-mechanisms", f"PLAIN,{MECHANISM},OAUTHBEARER"]
        folder = tmp_path_factory.mktemp("secured")
        with a_secured_broker(folder, *mechanisms, *tokens) as running:
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


@pytest.mark.parametrize("name", ["confluent", "java"])
def test_a_client_with_a_token_writes_and_reads(secured: Secured, issuer: Issuer, name: str):
    topic = f"{PREFIX}{name}-token"
    client = with_token(name, secured, issuer.token())
    try:
        client.produce(topic, SAMPLES[:1])
        (found,) = client.consume(topic, "earliest", 1)
    finally:
        client.close()
    assert found.content == SAMPLES[0].content


@pytest.mark.parametrize("claims", [{"aud": "another"}, {"exp": 1}], ids=["audience", "expired"])
def test_a_token_that_is_not_for_this_broker_is_refused(
    secured: Secured, issuer: Issuer, claims: dict[str, object]
):
    client = with_token("confluent", secured, issuer.token(**claims))
    before = secured.audit().count("login refused")
    with pytest.raises(KafkaException):
        client.admin().list_topics(timeout=1)
    assert eventually(lambda: secured.audit().count("login refused") > before)


def test_a_password_goes_by_plain_where_it_is_offered(secured: Secured):
    bootstrap, settings = librdkafka(secured, is_scram=True)
    client = Confluent(bootstrap, **{**settings, "sasl.mechanism": "PLAIN"})
    assert client.describe().brokers == [bootstrap]


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
