"""A secured broker for tests, and what each client needs to reach it."""

import asyncio
import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clients.adapters.aiokafka_client import Aiokafka
from clients.adapters.confluent import Confluent
from clients.adapters.driver import Driver
from clients.adapters.franz_go import franz_go
from clients.adapters.java import java, java_command
from clients.adapters.kafka_python import KafkaPython
from clients.adapters.kafkajs import kafkajs
from clients.adapters.kcat import Kcat
from clients.client import Client
from support.broker import samsa_up
from support.tls import Certificates

from samsa.access.contents import ChangePlan, Contents
from samsa.access.entries import acl_entry
from samsa.access.view import SecurityView
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits
from samsa.runtime.opening import opened
from samsa.security.acls import Acl
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa_broker.server.security_settings import FirstUser, make_user

MECHANISM = "SCRAM-SHA-512"
PASSWORD = "alice's secret"
PREFIX = "team-"
"""What alice may use."""
RULE = "RULE:^CN=([a-z]+),.*$/$1/, DEFAULT"
LISTENS = re.compile(r"listens\s+(\S+)://(127\.0\.0\.1:\d+)")
OAUTH = "org.apache.kafka.common.security.oauthbearer"
JAAS = "org.apache.kafka.common.security.{}Module required {};"


@dataclass(frozen=True)
class Secured:
    addresses: Mapping[str, str]
    """By kind of listener."""
    certificates: Certificates
    folder: Path

    def audit(self) -> str:
        return (self.folder / "stderr").read_text()


@contextmanager
def a_secured_broker(folder: Path, *options: str) -> Iterator[Secured]:
    """With the user alice, known by her password or her certificate."""
    certificates = Certificates(folder)
    (folder / "data").mkdir()
    asyncio.run(_let_alice_in(folder / "data"))
    kinds = ("sasl+tls", "tls")
    listen = [part for kind in kinds for part in ("--listen", f"{kind}://127.0.0.1:0")]
    files = [
        "--tls-cert", certificates.server, "--tls-key", certificates.server_key,
        "--tls-client-ca", certificates.ca, "--ssl-principal-mapping", RULE, "--acls",
    ]  # fmt: skip
    with samsa_up(folder, *listen, *map(str, files), *options):
        found = LISTENS.findall((folder / "stdout").read_text())
        yield Secured(dict(found), certificates, folder)


async def _let_alice_in(data: Path) -> None:
    wakeups = LocalWakeups()
    urls = f"sqlite://{data}/ledger.db", f"file://{data}/objects"
    async with opened(*urls, wakeups, Limits()) as found:
        stores = found.stores
        assert found.groups is not None
        view = SecurityView(found.groups, stores.clock, stores.nonce)
        await make_user(view, FirstUser("alice", PASSWORD))
        acls = [
            Acl(kind, PatternType.PREFIXED, PREFIX, "User:alice", "*", Operation.ALL, ALLOW)
            for kind in (ResourceType.TOPIC, ResourceType.GROUP)
        ]
        # The group of confluent-kafka's consumers that are in none.
        acls.append(acls[-1]._replace(pattern_type=PatternType.LITERAL, name="unused"))

        async def plan(_: Contents) -> ChangePlan[None]:
            return ChangePlan(None, [acl_entry(acl) for acl in acls])

        await view.change(plan)
    wakeups.close()


ALLOW = Permission.ALLOW

# How each client says who it is: by password, or by certificate

Make = Callable[[Secured, Path], Client]


def librdkafka(by: Secured, is_scram: bool) -> tuple[str, dict[str, str]]:
    files = by.certificates
    if is_scram:
        return by.addresses["sasl+tls"], {
            "security.protocol": "sasl_ssl",
            "ssl.ca.location": str(files.ca),
            "sasl.mechanism": MECHANISM,
            "sasl.username": "alice",
            "sasl.password": PASSWORD,
        }
    return by.addresses["tls"], {
        "security.protocol": "ssl",
        "ssl.ca.location": str(files.ca),
        "ssl.certificate.location": str(files.client),
        "ssl.key.location": str(files.client_key),
    }


def _python(by: Secured, is_scram: bool) -> tuple[str, dict[str, Any]]:
    files = by.certificates
    if is_scram:
        return by.addresses["sasl+tls"], {
            "security_protocol": "SASL_SSL",
            "ssl_context": context(files, is_scram),
            "sasl_mechanism": MECHANISM,
            "sasl_plain_username": "alice",
            "sasl_plain_password": PASSWORD,
        }
    return by.addresses["tls"], {
        "security_protocol": "SSL",
        "ssl_context": context(files, is_scram),
    }


def context(files: Certificates, is_scram: bool) -> ssl.SSLContext:
    return files.client_context(shows_certificate=not is_scram)


def _java(by: Secured, is_scram: bool) -> tuple[str, dict[str, str]]:
    files = by.certificates
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(files.ca)}
    if is_scram:
        login = f'username="alice" password="{PASSWORD}"'
        return by.addresses["sasl+tls"], {
            **trust,
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": MECHANISM,
            "sasl.jaas.config": JAAS.format("scram.ScramLogin", login),
        }
    return by.addresses["tls"], {
        **trust,
        "security.protocol": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": files.client.read_text(),
        "ssl.keystore.key": files.client_key.read_text(),
    }


def _go(by: Secured, is_scram: bool) -> tuple[str, dict[str, str]]:
    files = by.certificates
    trust = {"ca": files.ca.read_text()}
    if is_scram:
        return by.addresses["sasl+tls"], {**trust, "user": "alice", "password": PASSWORD}
    shown = {"cert": files.client.read_text(), "key": files.client_key.read_text()}
    return by.addresses["tls"], {**trust, **shown}


def _node(by: Secured, is_scram: bool) -> tuple[str, dict[str, Any]]:
    files = by.certificates
    trust = {"ca": [files.ca.read_text()]}
    if is_scram:
        login = {"mechanism": MECHANISM.lower(), "username": "alice", "password": PASSWORD}
        return by.addresses["sasl+tls"], {"ssl": trust, "sasl": login}
    shown = {"cert": files.client.read_text(), "key": files.client_key.read_text()}
    return by.addresses["tls"], {"ssl": {**trust, **shown}}


def make(name: str, by: Secured, *, is_scram: bool) -> Client:
    log = by.folder / f"{name}-{'scram' if is_scram else 'certificate'}.log"
    if name in ("confluent", "kcat"):
        bootstrap, settings = librdkafka(by, is_scram)
        return (
            Confluent(bootstrap, **settings) if name == "confluent" else Kcat(bootstrap, **settings)
        )
    if name in ("kafka-python", "aiokafka"):
        bootstrap, given = _python(by, is_scram)
        return (
            KafkaPython(bootstrap, **given)
            if name == "kafka-python"
            else Aiokafka(bootstrap, **given)
        )
    if name == "java":
        return java(*with_log(_java(by, is_scram), log))
    if name == "franz-go":
        return franz_go(*with_log(_go(by, is_scram), log))
    return kafkajs(*with_log(_node(by, is_scram), log))


def with_log(given: tuple[str, Any], log: Path) -> tuple[str, Path, Any]:
    return given[0], log, given[1]


def with_token(name: str, by: Secured, token: str) -> Any:
    """confluent or java."""
    bootstrap, trust = by.addresses["sasl+tls"], by.certificates.ca
    if name == "confluent":
        return Confluent(
            bootstrap,
            **{
                "security.protocol": "sasl_ssl",
                "ssl.ca.location": str(trust),
                "sasl.mechanism": "OAUTHBEARER",
                "oauth_cb": lambda _: (token, time.time() + 300),
            },
        )
    path = by.folder / "token"
    path.write_text(token)
    allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={path.as_uri()}"
    settings = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trust),
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.jwt.retriever.class": f"{OAUTH}.FileJwtRetriever",
        "sasl.oauthbearer.token.endpoint.url": path.as_uri(),
        "sasl.login.callback.handler.class": f"{OAUTH}.OAuthBearerLoginCallbackHandler",
        "sasl.jaas.config": JAAS.format("oauthbearer.OAuthBearerLogin", ""),
    }
    log = (by.folder / "java-token.log").open("w")
    return Driver([*java_command(), allowed, "Driver", bootstrap], log, settings)
