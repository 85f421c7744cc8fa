"""Both brokers with the same security: TLS, a login with SCRAM-SHA-512, and ACLs.

Each has two listeners: one in plaintext, where everyone is a super user, and one with TLS and SASL,
where the user `bench` has what its ACLs allow. Its password and its ACLs are made by the former.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from samsa_broker.cli.certificates import Authority

from .addresses import HOST, free_port
from .brokers import CONTROLLER, KAFKA, PORT, SAMSA, Broker, Entrance, Options
from .process import ToolFailed

USER, PASSWORD, MECHANISM = "bench", "the secret of bench", "SCRAM-SHA-512"
ITERATIONS = 4096
PREFIX = "bench-"
"""Of the topics that the user may use."""
OTHERS = 100
"""Other users, with ACLs of their own."""
PATIENCE_S = 30
SUPER_USER = "User:ANONYMOUS"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class Security:
    """The files of one pair of brokers, and where they listen."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        authority = Authority("Benchmark")
        server = authority.server(["localhost", HOST])
        self.ca, self.certificate = folder / "ca.pem", folder / "server.pem"
        self.key, self._both = folder / "server.key", folder / "both.pem"
        self.ca.write_bytes(authority.certificate)
        server.write(self.certificate, self.key)
        self._both.write_bytes(server.key + server.certificate)
        self._java = folder / "java.properties"
        self._java.write_text(
            "security.protocol=SASL_SSL\n"
            f"ssl.truststore.type=PEM\nssl.truststore.location={self.ca}\n"
            f"sasl.mechanism={MECHANISM}\n"
            f'sasl.jaas.config={SCRAM} username="{USER}" password="{PASSWORD}";\n'
        )
        self._ports = {side: free_port() for side in (SAMSA, KAFKA)}

    @property
    def options(self) -> Options:
        return {SAMSA: self._samsa(self._ports[SAMSA]), KAFKA: self._kafka(self._ports[KAFKA])}

    def _samsa(self, port: int) -> list[str]:
        return [
            *("--listen", f"plaintext://{HOST}:{PORT}", "--listen", f"sasl+tls://{HOST}:{port}"),
            *("--tls-cert", str(self.certificate), "--tls-key", str(self.key)),
            *("--acls", "--super-user", SUPER_USER),
        ]

    def _kafka(self, port: int) -> list[str]:
        plain, secure = f"PLAINTEXT://{HOST}:{PORT}", f"SASL_SSL://{HOST}:{port}"
        kinds = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL"
        return [
            f"listeners={plain},{secure},CONTROLLER://{HOST}:{CONTROLLER}",
            f"advertised.listeners={plain},{secure}",
            f"listener.security.protocol.map={kinds}",
            "ssl.keystore.type=PEM",
            f"ssl.keystore.location={self._both}",
            f"sasl.enabled.mechanisms={MECHANISM}",
            f"listener.name.sasl_ssl.{MECHANISM.lower()}.sasl.jaas.config={SCRAM};",
            f"authorizer.class.name={AUTHORIZER}",
            f"super.users={SUPER_USER}",
        ]

    def let_in(self, broker: Broker) -> None:
        """From now on clients log in. Raises ToolFailed."""
        make_user(broker)
        add_acls(broker)
        trust = {"security.protocol": "sasl_ssl", "ssl.ca.location": str(self.ca)}
        address = f"{HOST}:{self._ports[broker.side]}"
        broker.entrance = Entrance(address, {**plain_login(), **trust}, self._java)
        wait_for_login(broker.entrance)


def plain_login() -> dict[str, str]:
    """What librdkafka is told."""
    return {
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": MECHANISM,
        "sasl.username": USER,
        "sasl.password": PASSWORD,
    }


def make_user(broker: Broker) -> None:
    """By the listener without a login. Raises ToolFailed."""
    scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS)
    user = UserScramCredentialUpsertion(USER, scram, PASSWORD.encode())
    admin = _admin(broker)
    _wait(admin.alter_user_scram_credentials([user]))


def add_acls(broker: Broker) -> None:
    """The same. Raises ToolFailed."""
    admin = _admin(broker)
    _wait(admin.create_acls(list(_acls())))


def _admin(broker: Broker) -> AdminClient:
    """To be kept until it has answered: without it there is no answer."""
    return AdminClient({"bootstrap.servers": broker.address, "log_level": 3})


def _wait(made: Mapping[Any, Any]) -> None:
    try:
        for each in made.values():
            each.result(PATIENCE_S)
    except (KafkaException, TimeoutError) as error:
        raise ToolFailed(f"cannot make the user {USER}: {error!r}") from error


def wait_for_login(entrance: Entrance) -> None:
    """Apache Kafka answers before it knows its new user everywhere. Raises ToolFailed."""
    admin = AdminClient(
        {"bootstrap.servers": entrance.address, "log_level": 0, **entrance.librdkafka}
    )
    try:
        admin.list_topics(timeout=PATIENCE_S)
    except KafkaException as error:
        raise ToolFailed(f"{USER} cannot log in: {error!r}") from error


def _acls() -> Iterator[AclBinding]:
    users = [(f"User:{USER}", PREFIX)]
    users += [(f"User:other-{number}", f"other-{number}-") for number in range(OTHERS)]
    for principal, prefix in users:
        for kind, name in ((ResourceType.TOPIC, prefix), (ResourceType.GROUP, "")):
            pattern = ResourcePatternType.PREFIXED if name else ResourcePatternType.LITERAL
            yield AclBinding(
                kind, name or "*", pattern, principal, "*",
                AclOperation.ALL, AclPermissionType.ALLOW,
            )  # fmt: skip
