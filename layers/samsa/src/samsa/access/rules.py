"""The settings of access control. They do not change while a process runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from samsa.ports import Misconfigured
from samsa.security.principals import Principal

BETWEEN = ";"
"""Between super users, as in Kafka: an ARN has none, but names of certificates have commas."""


@dataclass(frozen=True, slots=True)
class SecurityRules:
    has_acls: bool = False
    """Whether requests are checked against ACLs, as with `authorizer.class.name` in Kafka."""
    super_users: frozenset[str] = frozenset()
    """Principals such as User:admin, which may do everything."""
    allow_if_no_acl: bool = False
    """Whether all clients may use a resource that no ACL is about."""


def rules_of(environment: Mapping[str, str]) -> SecurityRules | None:
    """Of a function: `SAMSA_ACLS` (on or off) and `SAMSA_SUPER_USERS`. None if they are off.

    Raises Misconfigured: a wrong word must not leave a cluster open that was meant to be closed."""
    switch = environment.get("SAMSA_ACLS", "off").strip().lower() or "off"
    if switch not in ("on", "off"):
        raise Misconfigured(f"SAMSA_ACLS is on or off, not {switch!r}")
    names = [name.strip() for name in environment.get("SAMSA_SUPER_USERS", "").split(BETWEEN)]
    super_users = frozenset(name for name in names if name)
    for name in super_users:
        try:
            Principal.of(name)
        except ValueError as error:
            raise Misconfigured(f"SAMSA_SUPER_USERS: {error}") from error
    return SecurityRules(has_acls=True, super_users=super_users) if switch == "on" else None
