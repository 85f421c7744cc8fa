"""The settings that secure a process, and what is made from them."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from samsa.access.contents import ChangePlan, Contents
from samsa.access.entries import credential_entry
from samsa.access.logins import StoredLogins, store_secret
from samsa.access.rules import SecurityRules
from samsa.access.view import SecurityView
from samsa.runtime.audit import Audit
from samsa.runtime.logs import event
from samsa.security.sasl import SCRAM_SHA_256, SCRAM_SHA_512, Sasl
from samsa.security.ssl_principal import PrincipalMapping

from .security import Security

log = logging.getLogger("samsa.server")
ITERATIONS = 8192
"""Iterations of a password's hash: twice as many as Kafka demands."""
SECRET_BYTES = 32
"""Of the secret of stand-ins."""

if TYPE_CHECKING:
    from samsa.broker.broker import Broker
    from samsa.ports import SecurityEntry
    from samsa.security.oauthbearer import TokenRules
    from samsa.security.scram import ScramCredential


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    jwks: str
    """A URL or a file."""
    issuer: str
    audiences: frozenset[str]
    scopes: frozenset[str] = frozenset()
    principal_claim: str = "sub"
    scope_claim: str = "scope"
    skew_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class FirstUser:
    """A user that is created at the start, unless there is one of this name."""

    name: str
    password: str = field(repr=False)
    is_fresh: bool = False
    """Whether the password was made at this start, so that it cannot be that of a user who exists
    already."""


class FirstUserExists(ValueError):
    """The first user exists, and its password is not known."""


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    rules: SecurityRules = field(default_factory=SecurityRules)
    mechanisms: tuple[str, ...] = (SCRAM_SHA_256, SCRAM_SHA_512)
    """Of listeners with SASL, and of logins by HTTP."""
    reauthenticate_ms: int = 0
    principal_mapping: str = "DEFAULT"
    oauth: OAuthSettings | None = None
    first_user: FirstUser | None = None


async def prepare_logins(view: SecurityView, settings: SecuritySettings) -> None:
    """Store what logins need. Raises Unavailable, FirstUserExists."""
    await store_secret(view, secrets.token_bytes(SECRET_BYTES))
    if settings.first_user is not None:
        await make_user(view, settings.first_user)


async def make_user(view: SecurityView, user: FirstUser) -> None:
    """Raises Unavailable, FirstUserExists."""
    made = await asyncio.to_thread(_credentials, user)

    async def plan(contents: Contents) -> ChangePlan[list[ScramCredential]]:
        held = [each for key, each in contents.credentials.items() if key.user == user.name]
        return ChangePlan(held, () if held else made)

    held = await view.change(plan)
    if held and user.is_fresh:
        raise FirstUserExists(user.name)
    if not await asyncio.to_thread(lambda: all(each.fits(user.password) for each in held)):
        event(
            log,
            logging.WARNING,
            "the first user has another password than its file",
            user=user.name,
        )


def _credentials(user: FirstUser) -> list[SecurityEntry]:
    from samsa.security.scram import ScramCredential, ScramMechanism

    return [
        credential_entry(
            user.name,
            ScramCredential.from_password(
                user.password, secrets.token_bytes(16), ITERATIONS, mechanism
            ),
        )
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
    ]


def secured(broker: Broker, settings: SecuritySettings) -> Security:
    """Secures the broker. Raises ValueError if the settings cannot be used."""
    assert broker.groups is not None
    audit = Audit()
    clock = broker.stores.clock
    view = SecurityView(
        broker.groups,
        clock,
        broker.stores.nonce,
        settings.rules,
        audit.decided,
        audit.administered,
    )
    broker.access = view

    rules = _token_rules(settings.oauth)
    logins = StoredLogins(view, secrets.token_bytes(SECRET_BYTES))
    sasl = Sasl(settings.mechanisms, logins.credential_of, logins.stand_in_of, rules)
    return Security(
        view,
        audit,
        clock.now_ms,
        sasl,
        settings.reauthenticate_ms,
        PrincipalMapping(settings.principal_mapping),
    )


def _token_rules(settings: OAuthSettings | None) -> TokenRules | None:
    """Imported only where tokens are taken: it needs a library for signatures."""
    if settings is None:
        return None
    from samsa.security.oauthbearer import TokenRules

    from .token_keys import TokenKeys

    return TokenRules(
        TokenKeys(settings.jwks).verify,
        settings.issuer,
        settings.audiences,
        settings.scopes,
        settings.principal_claim,
        settings.scope_claim,
        skew_ms=settings.skew_ms,
    )
