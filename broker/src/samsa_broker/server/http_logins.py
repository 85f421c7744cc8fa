"""Logins by HTTP: Basic, against the users of SCRAM and PLAIN, and Bearer, as OAUTHBEARER.

They are checked as those of Kafka's protocol: passwords and tokens in the threads of logins;
refusals late, counted and audited. Verified ones are good for a while (`verified_logins.py`).
Others have to wait for a check, of which there are few at a time (`login_checks.py`).
"""

import asyncio
from collections.abc import Coroutine, MutableMapping, Sequence
from typing import Any

from samsa.http_api.sessions import ON_LOOPBACK, Session, Unauthorized
from samsa.runtime.audited_changes import tell_changes_of
from samsa.security.http_credentials import BASIC, BEARER, Basic, Bearer, read
from samsa.security.oauthbearer import BearerExchange
from samsa.security.plain import PlainExchange, credential_for_plain
from samsa.security.principals import Principal
from samsa.security.results import Authenticated, LoginRefused, Result
from samsa.security.sasl import OAUTHBEARER, PLAIN, REFUSAL_DELAY_S, Exchange
from samsa.security.scram import ScramCredential

from .login_checks import LoginChecks
from .security import Security
from .verified_logins import VerifiedLogins

WRONG = "Authentication failed"


class HttpLogins:
    def __init__(self, security: Security) -> None:
        assert security.sasl is not None
        self.security = security
        self._sasl = security.sasl
        self._verified = VerifiedLogins(security.now_ms)
        self._checks = LoginChecks()
        mechanisms = self._sasl.mechanisms
        self._has_tokens = OAUTHBEARER in mechanisms
        self._has_passwords = mechanisms != (OAUTHBEARER,)
        self.challenges = [BASIC] * self._has_passwords + [BEARER] * self._has_tokens

    async def principal(self, authorization: str, peer: str, listener: str) -> Principal:
        """Raises Unauthorized, TooManyLogins."""
        given = self._read(authorization)
        credential = None
        if isinstance(given, Basic):
            credential = credential_for_plain(given.user, self._sasl.credential_of)
        principal = self._verified.find(authorization, credential)
        if principal is not None:
            return principal

        def check() -> Coroutine[Any, Any, Result]:
            return self._checked(given, credential, {"address": peer, "listener": listener})

        sent = authorization, credential
        result = await self._checks.result(sent, peer.rpartition(":")[0], check)
        if not isinstance(result, Authenticated):
            raise Unauthorized(WRONG, self.challenges)
        self._verified.keep(authorization, result.principal, credential, result.expires_ms)
        return result.principal

    def _read(self, authorization: str) -> Basic | Bearer | LoginRefused:
        try:
            given = read(authorization)
        except ValueError as error:
            return LoginRefused(str(error))
        is_offered = self._has_passwords if isinstance(given, Basic) else self._has_tokens
        return given if is_offered else LoginRefused(f"{type(given).__name__} is not offered")

    async def _checked(
        self,
        given: Basic | Bearer | LoginRefused,
        credential: ScramCredential | None,
        who: dict[str, str],
    ) -> Result:
        """Noted. A refusal is late: a guess costs time, as by SASL."""
        audit, mechanism = self.security.audit, "HTTP"
        result: Result
        if isinstance(given, LoginRefused):
            result = given
        else:
            mechanism = type(given).__name__
            result = await self._step(given, credential)
        if isinstance(result, Authenticated):
            audit.logged_in(principal=result.principal, mechanism=mechanism, **who)
        else:
            why = result.why if isinstance(result, LoginRefused) else "no answer"
            audit.refused_login(why, mechanism=mechanism, **who)
            await asyncio.sleep(REFUSAL_DELAY_S)
        return result

    async def _step(self, given: Basic | Bearer, credential: ScramCredential | None) -> Result:
        """A password is checked against this credential, as what is verified counts for it."""
        exchange: Exchange
        if isinstance(given, Basic):
            exchange = PlainExchange(lambda *_: credential, self._sasl.stand_in_of)
            mechanism = PLAIN
            token = f"\0{given.user}\0{given.password}".encode()
        else:
            assert self._sasl.token_rules is not None
            exchange = BearerExchange(self._sasl.token_rules, self.security.now_ms)
            mechanism, token = OAUTHBEARER, given.token.encode()
        return await self.security.threads.step(mechanism, exchange, token)


class HttpLogin:
    """Of one HTTP server (`samsa.http_api.sessions.Login`)."""

    def __init__(self, logins: HttpLogins, listener: str, *, is_required: bool) -> None:
        """If not required, those who do not log in are `ON_LOOPBACK`."""
        self._logins = logins
        self._listener = listener
        self._is_required = is_required

    def is_needed(self, scope: MutableMapping[str, Any]) -> bool:
        return self._is_required or bool(_authorizations(scope))

    async def session(self, scope: MutableMapping[str, Any]) -> Session:
        given = _authorizations(scope)
        host, port = (scope["client"] or ("", 0))[:2]
        peer = f"{host}:{port}"
        if given:
            # Of several headers, none that is taken: a proxy may have looked at another one.
            text = given[0] if len(given) == 1 else ""
            principal = await self._logins.principal(text, peer, self._listener)
        elif self._is_required:
            raise Unauthorized("this address asks who its clients are", self._logins.challenges)
        else:
            principal = ON_LOOPBACK
        security = self._logins.security
        access = security.rights.access_for(principal, host)

        def on_answer(key: int, row: Any, answer: Any) -> None:
            tell_changes_of(security.audit, key, lambda: row, answer, principal, peer)

        return Session(access, f"/{host}", on_answer)


def _authorizations(scope: MutableMapping[str, Any]) -> Sequence[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
