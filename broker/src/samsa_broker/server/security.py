"""What connections of a secured process share: who may log in, how, and what each may do."""

import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from samsa.runtime.audit import Audit
from samsa.runtime.login_threads import LoginThreads
from samsa.security.access import Access
from samsa.security.principals import ANONYMOUS, Principal
from samsa.security.sasl import Sasl
from samsa.security.ssl_principal import PrincipalMapping

from .listeners import Listener


class UnknownClient(OSError):
    """The client's certificate is valid, but no rule gives it a principal."""


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
    mapping: PrincipalMapping = field(default_factory=PrincipalMapping)
    """From the subject of a client's certificate to its principal."""
    threads: LoginThreads = field(default_factory=LoginThreads)

    def access_of(self, sock: socket.socket, peer: str, listener: Listener) -> Access:
        """The principal of a client that does not log in. Raises UnknownClient."""
        host = peer.rpartition(":")[0]
        if listener.kind.has_sasl or not isinstance(sock, ssl.SSLSocket):
            return self.rights.access_for(ANONYMOUS, host)
        certificate = sock.getpeercert(binary_form=True)
        if certificate is None:
            return self.rights.access_for(ANONYMOUS, host)
        who = {"address": peer, "listener": listener.name, "mechanism": "certificate"}
        try:
            principal = self.mapping.principal(certificate)
        except ValueError as error:
            self.audit.refused_login(str(error), **who)
            raise UnknownClient(str(error)) from error
        if principal is None:
            why = "no rule of --ssl-principal-mapping fits its certificate"
            self.audit.refused_login(why, **who)
            raise UnknownClient(why)
        self.audit.logged_in(principal=principal, **who)
        return self.rights.access_for(principal, host)

    def close(self) -> None:
        self.threads.close()
