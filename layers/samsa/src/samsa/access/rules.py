"""The settings of access control. They do not change while a process runs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecurityRules:
    has_acls: bool = False
    """Whether requests are checked against ACLs, as with `authorizer.class.name` in Kafka."""
    super_users: frozenset[str] = frozenset()
    """Principals such as User:admin, which may do everything."""
    allow_if_no_acl: bool = False
    """Whether all clients may use a resource that no ACL is about."""
