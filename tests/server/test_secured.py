"""`samsa up` with security, as a process: what it prints, what it refuses, and hostile clients."""

import asyncio
import os
import ssl
import urllib.error
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from server.process import Samsa, a_samsa
from server.test_http import Http
from server.test_starting import refused
from support.tls import Certificates
from support.waiting import eventually

from samsa_broker.cli.main import main

SECURE = ("--secure", "--http", "127.0.0.1:0", "--metrics-port", "0")


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    with a_samsa(tmp_path_factory.mktemp("secure"), *SECURE) as running:
        yield running


def admin(samsa: Samsa, **more: str) -> AdminClient:
    """By the settings that were printed, and the password from its file."""
    printed = (samsa.folder / "stdout").read_text().partition("librdkafka")[2]
    pairs = [line.strip().partition("=") for line in printed.splitlines() if "=" in line]
    settings = {name: value for name, _, value in pairs[:6]}
    password = (samsa.data / "security" / "admin.password").read_text()
    return AdminClient({**settings, "sasl.password": password, **more})


def test_the_settings_that_are_printed_are_those_of_a_client_that_is_let_in(secure: Samsa):
    client = admin(secure)
    client.create_topics([NewTopic("orders", 1)])["orders"].result(20)
    assert "orders" in client.list_topics(timeout=20).topics


def test_no_password_is_printed_or_logged(secure: Samsa):
    admin(secure).list_topics(timeout=20)
    with pytest.raises(KafkaException):
        admin(secure, **{"sasl.password": "hunter2"}).list_topics(timeout=1)
    assert eventually(lambda: any("login refused" in line for line in secure.logged()))
    said = "\n".join([*secure.logged(), (secure.folder / "stdout").read_text()])
    assert "hunter2" not in said
    assert (secure.data / "security" / "admin.password").read_text() not in said


def test_an_administrators_change_is_in_the_audit(secure: Samsa):
    client = admin(secure)
    client.create_topics([NewTopic("audited", 1)])["audited"].result(20)
    found = [line for line in secure.logged() if "resource=audited" in line]
    assert len(found) == 1
    assert "principal=User:admin" in found[0]
    assert "action=CreateTopics" in found[0]
    assert "outcome=none" in found[0]


def test_by_http_nothing_is_allowed_until_an_acl_allows_it(secure: Samsa):
    client = admin(secure)
    http = Http(secure)
    assert http("GET", "/topics")["topics"] == []
    with pytest.raises(urllib.error.HTTPError) as refusal:
        http("POST", "/topics", {"name": "by-http"})
    assert refusal.value.code >= 400
    assert "by-http" not in client.list_topics(timeout=20).topics


def test_logins_are_counted(secure: Samsa):
    before = secure.metrics()["samsa_logins_total"]
    client = admin(secure)
    client.list_topics(timeout=20)
    assert secure.metrics()["samsa_logins_total"] > before
    name = 'samsa_listener_connections{listener="sasl+tls"}'
    assert eventually(lambda: secure.metrics()[name] >= 1)


def test_hundreds_of_hostile_connections_hold_up_no_client(secure: Samsa):
    """Nonsense, silence, and guesses of passwords: all at once, and again and again."""
    context = ssl.create_default_context(cafile=str(secure.data / "security" / "ca.pem"))
    client = admin(secure)
    client.list_topics(timeout=20)

    async def nonsense(number: int) -> None:
        reader, writer = await asyncio.open_connection(*secure.address)
        try:
            writer.write(os.urandom(64) if number % 3 else b"\x16\x03\x01\x02\x00\x01")
            if number % 3:
                await asyncio.wait_for(reader.read(), 30)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def unknown(_: int) -> None:
        reader, writer = await asyncio.open_connection(*secure.address, ssl=context)
        writer.write(b"\x00\x00\x00\x08" + b"\x00\x03\x00\x0c" + bytes(4))
        try:
            assert await asyncio.wait_for(reader.read(), 30) == b""
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def attack() -> None:
        for start in range(0, 600, 100):
            numbers = range(start, start + 100)
            await asyncio.gather(
                *(unknown(n) if n % 5 == 0 else nonsense(n) for n in numbers),
                asyncio.to_thread(client.list_topics, timeout=20),
            )

    asyncio.run(attack())
    assert secure.metrics()["samsa_tls_handshakes_failed_total"] >= 300
    assert eventually(lambda: secure.metrics()["samsa_tls_handshakes"] == 0, seconds=15)


# What is refused at the start


def test_files_that_make_no_server_are_named(tmp_path: Path):
    certificates = Certificates(tmp_path)
    options = ("--data", tmp_path / "data", "--no-http", "--listen", "tls://127.0.0.1:0")
    status, said = refused(
        "up", *options, "--tls-cert", certificates.client, "--tls-key", certificates.server_key
    )
    assert status == 1
    assert str(certificates.client) in said
    status, said = refused("up", *options, "--tls-cert", tmp_path / "no", "--tls-key", "no")
    assert status == 1
    assert str(tmp_path / "no") in said


def test_https_without_a_certificate_is_refused(tmp_path: Path):
    options = ("--data", tmp_path, "--port", 0, "--acls", "--http", "https://127.0.0.1:0")
    status, said = refused("up", *options)
    assert status == 1
    assert "--tls-cert" in said
    certificates = Certificates(tmp_path)
    wrong = ("--tls-cert", certificates.client, "--tls-key", certificates.server_key)
    status, said = refused("up", *options, *wrong)
    assert status == 1
    assert str(certificates.client) in said


def test_a_lost_password_of_the_first_user_is_told_with_the_way_to_another_one(tmp_path: Path):
    with a_samsa(tmp_path, *SECURE):
        pass
    data = tmp_path / "data"
    password = data / "security" / "admin.password"
    lost = password.read_text()
    password.unlink()
    options = ("up", "--data", data, "--port", "0", *SECURE)
    for _ in range(2):
        status, said = refused(*options)
        assert (status, password.exists()) == (1, False)
    way = f"samsa users delete admin --ledger sqlite://{data}/ledger.db"
    assert said.endswith(way)
    assert main(way.split()[1:]) == 0
    with a_samsa(tmp_path, *SECURE) as samsa:
        assert password.read_text() != lost
        assert admin(samsa).list_topics(timeout=20).brokers
