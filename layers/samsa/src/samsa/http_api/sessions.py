"""Who sends an HTTP request, and what it may do: found out for each request, and passed on with it.

A `Login` makes the session of a request from its ASGI scope. The session is in the scope from then
on, under `SESSION`: a route without one does not work, so none can be forgotten.
"""

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, NamedTuple, Protocol

from samsa.security.access import UNLIMITED, Access
from samsa.security.principals import USER, Principal
from samsa.wire.apis import ApiKey

SESSION = "samsa.session"
ON_LOOPBACK = Principal(USER, "http-api")
"""Clients on this machine that do not log in, where they need not."""

OnAnswer = Callable[[ApiKey, Any, Any], None]
"""Told of each request to the handlers and of its answer: for the audit."""


class Session(NamedTuple):
    access: Access = UNLIMITED
    client_host: str = ""
    """As Kafka shows it: a slash and the address."""
    on_answer: OnAnswer | None = None


class Unauthorized(Exception):
    """The text is for the client."""

    def __init__(self, told: str, challenges: Sequence[str] = ()) -> None:
        super().__init__(told)
        self.challenges = challenges
        """Of WWW-Authenticate: how to log in."""


class TooManyLogins(Exception):
    """Its credentials have not been looked at. The client may try again."""


class Login(Protocol):
    async def session(self, scope: MutableMapping[str, Any]) -> Session:
        """Raises Unauthorized, TooManyLogins."""


class Everyone:
    """Where nobody has to say who it is, and all may do everything."""

    async def session(self, scope: MutableMapping[str, Any]) -> Session:  # noqa: ARG002
        return Session()


EVERYONE: Login = Everyone()
