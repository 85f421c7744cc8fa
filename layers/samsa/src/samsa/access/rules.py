"""How access control is set up, for as long as a process runs."""

from dataclasses import dataclass

MOST_ACLS = 10_000
MOST_CREDENTIALS = 10_000
MOST_QUOTAS = 10_000


@dataclass(frozen=True, slots=True)
class SecurityRules:
    has_acls: bool = False
    """Whether requests are checked against ACLs, as with `authorizer.class.name` in Kafka."""
    super_users: frozenset[str] = frozenset()
    """Principals such as User:admin, which may do everything."""
    allow_if_no_acl: bool = False
    """Whether all may use a resource that no ACL is about."""
    most_acls: int = MOST_ACLS
    most_credentials: int = MOST_CREDENTIALS
    """SCRAM credentials: a user has one for each mechanism."""
    most_quotas: int = MOST_QUOTAS
    """Values, of all entities together."""
