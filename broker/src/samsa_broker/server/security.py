"""What connections of a secured process share: who may log in, how, and what each may do."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from samsa.security.access import Access
from samsa.security.principals import Principal
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
    name_of: Callable[[str], str] = str
    """From the distinguished name of a client's certificate to the name of its principal."""
    threads: LoginThreads = field(default_factory=LoginThreads)

    def access_of(self, sock: socket.socket, host: str) -> Access:
        """Of a client that does not log in."""
        return self.rights.access_for(self._principal_of(sock), host)
