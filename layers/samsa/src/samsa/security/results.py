"""The results of a step of a SASL exchange."""

from typing import NamedTuple

from .principals import Principal

MOST_BYTES = 64 * 1024
"""A longer token is refused unread. Kafka refuses frames of more than 512 KiB before a login."""

LONGEST_SHOWN = 100


class Challenge(NamedTuple):
    """Data to send. The exchange goes on with the client's next token."""

    data: bytes


class Authenticated(NamedTuple):
    principal: Principal
    data: bytes = b""
    """The server's last token, sent with the success."""
    expires_ms: int | None = None
    """When the session ends unless the client logs in again, in milliseconds since 1970."""


class LoginRefused(NamedTuple):
    """The login has failed, and the connection ends."""

    why: str
    """For the log: it may say whether there is such a user, and must not reach the client."""
    told: str | None = None
    """For the client, beside SASL_AUTHENTICATION_FAILED. None: the sentence of `message`, which
    does not say what was wrong."""

    def message(self, mechanism: str, again: bool = False) -> str:
        """What the client is told, as by Kafka."""
        during = "re-authentication" if again else "authentication"
        return self.told or (
            f"Authentication failed during {during} due to invalid credentials "
            f"with SASL mechanism {mechanism}"
        )


def shown(name: str) -> str:
    """A name that a client gave, for a log: on one line, and not long."""
    return repr(name if len(name) <= LONGEST_SHOWN else name[:LONGEST_SHOWN] + "…")


Result = Challenge | Authenticated | LoginRefused
