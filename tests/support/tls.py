"""Certificates for tests, made once for a process."""

import ssl
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from samsa.runtime.tls_context import ClientAuth, TlsFiles
from samsa_broker.cli.certificates import Authority

HOSTS = ("localhost", "127.0.0.1")


@cache
def authority() -> Authority:
    return Authority("Test CA")


@dataclass(frozen=True)
class Certificates:
    """Files in a folder: of the authority, a server and a client named alice."""

    folder: Path

    def __post_init__(self) -> None:
        self.ca.write_bytes(authority().certificate)
        self.renew()
        authority().client("alice", "Example").write(self.client, self.client_key)

    @property
    def ca(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def server(self) -> Path:
        return self.folder / "server.pem"

    @property
    def server_key(self) -> Path:
        return self.folder / "server.key"

    @property
    def client(self) -> Path:
        return self.folder / "client.pem"

    @property
    def client_key(self) -> Path:
        return self.folder / "client.key"

    def renew(self) -> None:
        authority().server(HOSTS).write(self.server, self.server_key)

    def files(self, auth: ClientAuth = ClientAuth.NONE) -> TlsFiles:
        return TlsFiles(str(self.server), str(self.server_key), str(self.ca), auth)

    def client_context(self, *, shows_certificate: bool = False) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.ca))
        if shows_certificate:
            context.load_cert_chain(self.client, self.client_key)
        return context
