"""samsa up --secure: a closed broker on one machine, from nothing.

Makes, in the folder `security` of the data, where they do not exist yet: a certificate authority, a
certificate for the broker, and the password of a first user, admin, who may do everything. Clients
come by TLS and log in with SCRAM; everything else is refused by ACLs until admin allows it. All of
the data is for the owner only: records, and the keys of users.
"""

import argparse
import secrets
import shlex
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from samsa_broker.server.listeners import Kind, ListenerAddress, is_loopback
from samsa_broker.server.security_settings import FirstUser

from .private_files import close_folder
from .up_security import DEFAULT_HOST, DEFAULT_PORT, Mistake

USER = "admin"
MECHANISM = "SCRAM-SHA-512"
INSTALL = "pip install 'samsa-broker[secure]'"


class SecureFolder(NamedTuple):
    path: Path

    @property
    def ca(self) -> Path:
        return self.path / "ca.pem"

    @property
    def certificate(self) -> Path:
        return self.path / "server.pem"

    @property
    def key(self) -> Path:
        return self.path / "server.key"

    @property
    def password(self) -> Path:
        return self.path / "admin.password"


def add_to(up: argparse.ArgumentParser) -> None:
    up.add_argument(
        "--secure", action="store_true",
        help="a closed broker on this machine: makes a certificate and a first user in --data, "
        "and prints what clients need to log in",
    )  # fmt: skip


def prepare(given: argparse.Namespace, data: Path) -> FirstUser | None:
    """Turns --secure into the options that it stands for. Raises Mistake; OSError."""
    if not given.secure:
        return None
    for name in ("listen", "tls_cert", "tls_key", "tls_client_ca"):
        if getattr(given, name):
            raise Mistake(f"--secure stands for --{name.replace('_', '-')}: give one of them")
    close_folder(data)
    folder = SecureFolder(data / "security")
    folder.path.mkdir(mode=0o700, exist_ok=True)
    _make_certificate(folder, _names(given.host, given.advertise))
    given.listen = [ListenerAddress(Kind.SASL_TLS, given.host, given.port)]
    given.host, given.port = DEFAULT_HOST, DEFAULT_PORT
    given.tls_cert, given.tls_key = str(folder.certificate), str(folder.key)
    given.acls = True
    given.super_user = [*given.super_user, f"User:{USER}"]
    is_fresh = not folder.password.exists()
    return FirstUser(USER, _password(folder), is_fresh)


def user_exists(data: Path, ledger: str) -> str:
    """What to do if admin exists and its password is not there. The one that was made is of no
    use."""
    folder = SecureFolder(data / "security")
    folder.password.unlink(missing_ok=True)
    return (
        f"there is a user {USER}, but not the file with its password, {folder.password}. Put the "
        f"file back; or delete the user, and start again: samsa users delete {USER} "
        f"--ledger {shlex.quote(ledger)}"
    )


def _make_certificate(folder: SecureFolder, hosts: Sequence[str]) -> None:
    if folder.certificate.exists() and folder.key.exists():
        return
    try:
        from .certificates import Authority, write_private
    except ImportError as error:
        raise Mistake(f"--secure needs a package that is not installed; try: {INSTALL}") from error
    authority = Authority("Samsa")
    write_private(folder.ca, authority.certificate)
    authority.server(hosts).write(folder.certificate, folder.key)


def _names(host: str, advertised: Sequence[tuple[Kind | None, tuple[str, int]]]) -> list[str]:
    """The names and addresses by which clients may connect to this broker."""
    names = [where[0] for _, where in advertised] + ["localhost", "127.0.0.1", "::1"]
    if not is_loopback(host):
        names += [socket.gethostname()]
        names += [] if host in ("0.0.0.0", "::") else [host]  # noqa: S104  # left out
    return list(dict.fromkeys(names))


def _password(folder: SecureFolder) -> str:
    if not folder.password.exists():
        from .certificates import write_private

        write_private(folder.password, secrets.token_urlsafe(24).encode())
    password = folder.password.read_text().strip()
    if not password:
        raise Mistake(f"{folder.password} is empty: write the password of {USER} into it")
    return password


def lines(given: argparse.Namespace, data: Path, bootstrap: str) -> list[str]:
    """The settings of clients, ready to paste. The password is in them only on a terminal: output
    that goes elsewhere is often kept."""
    if not given.secure:
        return []
    folder = SecureFolder(data / "security")
    password = f"<the content of {folder.password}>"
    if is_terminal():
        password = folder.password.read_text().strip()
    return [
        "Java:",
        *_java(bootstrap, folder.ca, password),
        "librdkafka, kcat and what is built on it:",
        *_librdkafka(bootstrap, folder.ca, password),
        "Python (kafka-python, aiokafka):",
        *_python(bootstrap, folder.ca, password),
    ]


def is_terminal() -> bool:
    return sys.stdout.isatty()


def _java(bootstrap: str, ca: Path, password: str) -> list[str]:
    login = "org.apache.kafka.common.security.scram.ScramLoginModule required "
    return [
        f"  bootstrap.servers={bootstrap}",
        "  security.protocol=SASL_SSL",
        "  ssl.truststore.type=PEM",
        f"  ssl.truststore.location={ca}",
        f"  sasl.mechanism={MECHANISM}",
        f'  sasl.jaas.config={login}username="{USER}" password="{password}";',
    ]


def _librdkafka(bootstrap: str, ca: Path, password: str) -> list[str]:
    return [
        f"  bootstrap.servers={bootstrap}",
        "  security.protocol=sasl_ssl",
        f"  ssl.ca.location={ca}",
        f"  sasl.mechanism={MECHANISM}",
        f"  sasl.username={USER}",
        f"  sasl.password={password}",
    ]


def _python(bootstrap: str, ca: Path, password: str) -> list[str]:
    return [
        f'  bootstrap_servers="{bootstrap}", security_protocol="SASL_SSL",',
        f'  ssl_cafile="{ca}",  # aiokafka: ssl_context=create_ssl_context(cafile=…)',
        f'  sasl_mechanism="{MECHANISM}", sasl_plain_username="{USER}",',
        f'  sasl_plain_password="{password}",',
    ]
