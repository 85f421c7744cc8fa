"""PLAIN (RFC 4616): the client sends its name and its password, so let it do so over TLS only.

Passwords are checked against SCRAM credentials: there is one set of users for both.
"""

from .principals import USER, Principal
from .results import MOST_BYTES, Authenticated, LoginRefused, Result, shown
from .scram import CredentialOf, ScramCredential, ScramMechanism, StandInOf
from .stand_ins import PLAIN

_WRONG = "Authentication failed: Invalid username or password"


class PlainExchange:
    def __init__(self, credential_of: CredentialOf, stand_in_of: StandInOf) -> None:
        self._credential_of = credential_of
        self._stand_in_of = stand_in_of
        self._is_over = False

    def step(self, token: bytes) -> Result:
        if self._is_over:
            return LoginRefused("a token after the end of the exchange")
        self._is_over = True
        if len(token) > MOST_BYTES:
            return LoginRefused(f"a token of {len(token)} bytes")
        try:
            parts = token.decode().split("\0")
        except UnicodeDecodeError:
            return LoginRefused("not UTF-8", _WRONG)
        return self._login(parts)

    def _login(self, parts: list[str]) -> Result:
        if len(parts) != 3:
            count = min(len(parts), 4)
            return _refused(f"Invalid SASL/PLAIN response: expected 3 tokens, got {count}")
        acts_as, user, password = parts
        if not user:
            return _refused("Authentication failed: username not specified")
        if not password:
            return _refused("Authentication failed: password not specified")
        if not self._is_right(user, password):
            return LoginRefused(f"a wrong password of {shown(user)}, or no such user", _WRONG)
        if acts_as not in ("", user):
            return _refused(
                "Authentication failed: Client requested an authorization id that is different "
                "from username"
            )
        return Authenticated(Principal(USER, user))

    def _is_right(self, user: str, password: str) -> bool:
        found = credential_for_plain(user, self._credential_of)
        # Made for every user, so that the time does not tell whether the user exists.
        other = self._stand_in_of(user, PLAIN)
        return (found or other).fits(password) and found is not None


def credential_for_plain(user: str, credential_of: CredentialOf) -> ScramCredential | None:
    """The one that a password is checked against."""
    return credential_of(user, ScramMechanism.SCRAM_SHA_512) or credential_of(
        user, ScramMechanism.SCRAM_SHA_256
    )


def _refused(why: str) -> LoginRefused:
    return LoginRefused(why, why)
