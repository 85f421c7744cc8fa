"""Access control lists: one ACL, the filters that find ACLs, and what Kafka refuses to create.

Matching of filters and the sentences of refusals are Kafka's (ResourcePatternFilter,
AccessControlEntryFilter, AclApis, AclControlManager).
"""

from typing import NamedTuple

from .kinds import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType

WILDCARD = "*"
"""As a name: every resource. As a host: every address."""
EVERY_USER = "User:*"


class Acl(NamedTuple):
    resource_type: ResourceType
    pattern_type: PatternType
    name: str
    principal: str
    host: str
    operation: Operation
    permission: Permission

    @property
    def is_wildcard(self) -> bool:
        """Whether it is about every resource of its type."""
        return self.pattern_type is PatternType.LITERAL and self.name == WILDCARD

    def affects(self, name: str) -> bool:
        """Whether its pattern covers this resource of its type."""
        if self.pattern_type is PatternType.PREFIXED:
            return name.startswith(self.name)
        return self.name in (name, WILDCARD)

    def __str__(self) -> str:
        return (
            f"{self.permission.name} {self.principal} from {self.host}: {self.operation.name} on "
            f"{self.resource_type.name} {self.pattern_type.name} {self.name}"
        )


class AclFilter(NamedTuple):
    """Finds ACLs. None and ANY find all; MATCH finds every pattern that covers the name."""

    resource_type: ResourceType = ResourceType.ANY
    pattern_type: PatternType = PatternType.ANY
    name: str | None = None
    principal: str | None = None
    host: str | None = None
    operation: Operation = Operation.ANY
    permission: Permission = Permission.ANY

    def matches(self, acl: Acl) -> bool:
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self._finds_pattern(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _finds_pattern(self, acl: Acl) -> bool:
        if self.pattern_type is PatternType.MATCH:
            return self.name is None or acl.affects(self.name)
        return (
            self.pattern_type in (PatternType.ANY, acl.pattern_type)
            and self.name in (None, acl.name)
        )  # fmt: skip


def has_unknown(subject: Acl | AclFilter) -> bool:
    """Kafka refuses a whole request (INVALID_REQUEST, by closing the connection) if one of its
    kinds has a number without a meaning."""
    return (
        subject.resource_type is ResourceType.UNKNOWN
        or subject.pattern_type is PatternType.UNKNOWN
        or subject.operation is Operation.UNKNOWN
        or subject.permission is Permission.UNKNOWN
    )


def problem_with(acl: Acl) -> str | None:
    """Why this ACL may not be created, as Kafka says it beside INVALID_REQUEST."""
    return _problem_with_name(acl) or _problem_with_kinds(acl) or _problem_with_principal(acl)


def _problem_with_name(acl: Acl) -> str | None:
    if acl.resource_type is ResourceType.CLUSTER and acl.name != CLUSTER_NAME:
        return f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
    return None if acl.name else "Invalid empty resource name"


def _problem_with_kinds(acl: Acl) -> str | None:
    if acl.resource_type in (ResourceType.UNKNOWN, ResourceType.ANY):
        return f"Invalid resourceType {acl.resource_type.name}"
    if acl.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        return f"Invalid patternType {acl.pattern_type.name}"
    if acl.operation in (Operation.UNKNOWN, Operation.ANY):
        return f"Invalid operation {acl.operation.name}"
    if acl.permission not in (Permission.DENY, Permission.ALLOW):
        return f"Invalid permissionType {acl.permission.name}"
    return None


def _problem_with_principal(acl: Acl) -> str | None:
    if ":" in acl.principal:
        return None
    return (
        f"Could not parse principal from `{acl.principal}` "
        "(no colon is present separating the principal type from the principal name)"
    )
