"""How a process is secured, and the making of it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from samsa.access.rules import SecurityRules
from samsa.access.view import SecurityView
from samsa.security.sasl import Sasl
from samsa.security.ssl_principal import PrincipalMapping

from .audit import Audit
from .security import Security

if TYPE_CHECKING:
    from samsa.broker.broker import Broker
    from samsa.security.oauthbearer import TokenRules
    from samsa.security.scram import ScramCredential, ScramMechanism


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    jwks: str
    """A URL or a file."""
    issuer: str
    audiences: frozenset[str]
    scopes: frozenset[str] = frozenset()
    principal_claim: str = "sub"
    skew_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    rules: SecurityRules = field(default_factory=SecurityRules)
    mechanisms: tuple[str, ...] = ()
    """Empty if no listener has SASL."""
    reauthenticate_ms: int = 0
    principal_mapping: str = "DEFAULT"
    oauth: OAuthSettings | None = None


def secured(broker: Broker, settings: SecuritySettings) -> Security:
    """Secures the broker. Raises ValueError if the settings cannot be used."""
    assert broker.groups is not None
    audit = Audit()
    clock = broker.stores.clock
    view = SecurityView(broker.groups, clock, broker.stores.nonce, settings.rules, audit.decided)
    broker.access = view

    def credential_of(user: str, mechanism: ScramMechanism) -> ScramCredential | None:
        return view.credential(mechanism, user)

    sasl = None
    if settings.mechanisms:
        rules = _token_rules(settings.oauth)
        sasl = Sasl(settings.mechanisms, credential_of, secrets.token_bytes(32), rules)
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
        skew_ms=settings.skew_ms,
    )
