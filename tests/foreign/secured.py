"""A broker for tests of others that want SASL, TLS or ACLs: as the fixtures of kafka-python would
start an Apache Kafka, with an authorizer that allows what no ACL is about."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from support.broker import samsa_up
from support.tls import Certificates

USER, PASSWORD = "alice", "alice-secret"
KINDS = {"PLAINTEXT": "plaintext", "SSL": "tls", "SASL_PLAINTEXT": "sasl+plaintext"}
MECHANISMS = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
LISTENS = re.compile(r"listens\s+(\S+)://127\.0\.0\.1:(\d+)")


@dataclass(frozen=True)
class SecuredBroker:
    ports: Mapping[str, int]
    """By Kafka's name of the transport."""
    folder: Path
    """Where `ca-cert` is."""

    @property
    def bootstrap(self) -> str:
        """Without a login."""
        return f"127.0.0.1:{self.ports['PLAINTEXT']}"


@contextmanager
def a_secured_broker(folder: Path, *options: str) -> Iterator[SecuredBroker]:
    folder.mkdir(exist_ok=True)
    files = Certificates(folder)
    (folder / "ca-cert").write_bytes(files.ca.read_bytes())
    listen = [part for kind in KINDS.values() for part in ("--listen", f"{kind}://127.0.0.1:0")]
    tls = ["--tls-cert", str(files.server), "--tls-key", str(files.server_key)]
    mechanisms = ["--sasl-mechanisms", ",".join(["PLAIN", *MECHANISMS])]
    acls = ["--acls", "--allow-everyone-if-no-acl"]
    with samsa_up(folder, *listen, *tls, *mechanisms, *acls, *options) as broker:
        _add_user(broker.bootstrap)
        found = dict(LISTENS.findall((folder / "stdout").read_text()))
        yield SecuredBroker({name: int(found[kind]) for name, kind in KINDS.items()}, folder)


def _add_user(bootstrap: str) -> None:
    """A request for each mechanism: one may name a user only once."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for mechanism in MECHANISMS.values():
        info = ScramCredentialInfo(mechanism, 4096)
        user = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
        for made in admin.alter_user_scram_credentials([user]).values():
            made.result(20)
