"""What connections of a secured process share: who may log in, how, and what each may do."""

import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from samsa.security.access import Access
from samsa.security.principals import ANONYMOUS, USER, Principal
from samsa.security.sasl import Sasl

from .audit import Audit
from .login_threads import LoginThreads


class Rights(Protocol):
    def access_for(self, principal: Principal, host: str) -> Access: ...


@dataclass(frozen=True, slots=True)
class Security:
    rights: Rights
    audit: Audit
    now_ms: Callable[[], int]
    sasl: Sasl | None = None
    """None if no listener has SASL."""
    reauthenticate_ms: int = 0
    """How long a login is good at most; 0: for as long as the connection lives, unless it was by a
    token, which ends."""
    name_of: Callable[[Any], str] = str
    """From the subject of a client's certificate, as Python's ssl shows it, to the name of its
    principal."""
    threads: LoginThreads = field(default_factory=LoginThreads)

    def access_of(self, sock: socket.socket, host: str) -> Access:
        """Of a client that does not log in."""
        return self.rights.access_for(self._principal_of(sock), host)

    def _principal_of(self, sock: socket.socket) -> Principal:
        found = sock.getpeercert() if isinstance(sock, ssl.SSLSocket) else None
        return Principal(USER, self.name_of(found["subject"])) if found else ANONYMOUS
