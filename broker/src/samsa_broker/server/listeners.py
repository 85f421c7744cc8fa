"""The addresses of one process, and what each of them asks of a client.

A listener has one of four kinds, as Kafka's `security.protocol`. There is at most one of each kind,
so that a kind names a listener in the whole cluster.
"""

from dataclasses import dataclass
from enum import Enum
from ipaddress import ip_address

from samsa.runtime.tls_context import TlsContext


class Kind(Enum):
    PLAINTEXT = "plaintext"
    TLS = "tls"
    SASL_PLAINTEXT = "sasl+plaintext"
    SASL_TLS = "sasl+tls"

    @property
    def has_tls(self) -> bool:
        return self in (Kind.TLS, Kind.SASL_TLS)

    @property
    def has_sasl(self) -> bool:
        return self in (Kind.SASL_PLAINTEXT, Kind.SASL_TLS)


@dataclass(frozen=True, slots=True)
class ListenerAddress:
    """Where to listen, and where clients of this listener are told to come."""

    kind: Kind
    host: str
    port: int
    advertise: tuple[str, int] | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.kind.value}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Listener:
    """The listener of a connection, as the connection knows it."""

    kind: Kind = Kind.PLAINTEXT
    advertise: tuple[str, int] | None = None
    tls: TlsContext | None = None

    @property
    def name(self) -> str:
        return self.kind.value


PLAIN = Listener()


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
