"""SASL: an exchange of tokens that says who a client is. Bytes in, bytes out.

An exchange is made for one login and is given the client's tokens one after the other. Each step
answers with what to send (`Challenge`), with who it is (`Authenticated`), or with a refusal
(`LoginRefused`). After one of the last two the exchange is over: a further token is refused. No
input raises.

A step may compute for milliseconds (a password of PLAIN is salted thousands of times), so that a
server runs it beside its event loop.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from .oauthbearer import OAuthBearerExchange, TokenRules
from .plain import PlainExchange
from .results import Authenticated, Challenge, LoginRefused, Result
from .scram import CredentialOf, ScramExchange, ScramMechanism, StandInOf
from .stand_ins import PLAIN

SCRAM_SHA_256 = ScramMechanism.SCRAM_SHA_256.sasl_name
SCRAM_SHA_512 = ScramMechanism.SCRAM_SHA_512.sasl_name
OAUTHBEARER = "OAUTHBEARER"
MECHANISMS = (PLAIN, SCRAM_SHA_256, SCRAM_SHA_512, OAUTHBEARER)

# What servers that offer it agree on:
REFUSAL_DELAY_S = 0.1
"""How late a refusal is, so that a guess costs something. Kafka's
`connection.failed.authentication.delay.ms`."""
LOGIN_WITHIN_S = 30.0
LARGEST_BEFORE_LOGIN = 512 * 1024
"""Bytes of a request before the login. Kafka's `sasl.server.max.receive.size`."""

__all__ = [
    "LARGEST_BEFORE_LOGIN",
    "LOGIN_WITHIN_S",
    "MECHANISMS",
    "OAUTHBEARER",
    "PLAIN",
    "REFUSAL_DELAY_S",
    "SCRAM_SHA_256",
    "SCRAM_SHA_512",
    "Authenticated",
    "Challenge",
    "Exchange",
    "LoginRefused",
    "Result",
    "Sasl",
]


class Exchange(Protocol):
    def step(self, token: bytes) -> Result: ...


class Sasl(NamedTuple):
    """What logins are checked against."""

    mechanisms: tuple[str, ...]
    """Those that are offered, in the order in which SaslHandshake lists them."""
    credential_of: CredentialOf
    """The SCRAM credential of a user, also for PLAIN."""
    stand_in_of: StandInOf
    """Of users that there are not. The same in all processes of a cluster and through restarts if
    it can be: else a change of salts shows which users there are not."""
    token_rules: TokenRules | None = None
    """For OAUTHBEARER."""

    def begin(self, mechanism: str, nonce: str, now_ms: Callable[[], int]) -> Exchange | None:
        """The exchange of one login, or None if the mechanism is not offered. The nonce is fresh,
        random (130 bits in Kafka) and printable ASCII without commas."""
        if mechanism not in self.mechanisms:
            return None
        if mechanism == PLAIN:
            return PlainExchange(self.credential_of, self.stand_in_of)
        if mechanism == OAUTHBEARER:
            if self.token_rules is None:
                raise ValueError("OAUTHBEARER is offered without rules for its tokens")
            return OAuthBearerExchange(self.token_rules, now_ms)
        return ScramExchange(
            ScramMechanism.of(mechanism), self.credential_of, nonce, self.stand_in_of
        )  # fmt: skip
