"""Filters of ACLs, as requests have them, and the ACLs that they find."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from typing import TYPE_CHECKING

from samsa.broker.work import Work
from samsa.security.acls import Acl, AclFilter, has_unknown
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.wire.errors import DecodeError

if TYPE_CHECKING:
    from typing import Protocol

    class FilterRow(Protocol):
        resource_type_filter: int
        resource_name_filter: str | None
        pattern_type_filter: int
        principal_filter: str | None
        host_filter: str | None
        operation: int
        permission_type: int


def read_filter(row: FilterRow) -> AclFilter:
    """Raises DecodeError: Kafka closes the connection if a kind has a number without a meaning."""
    found = AclFilter(
        ResourceType(row.resource_type_filter),
        PatternType(row.pattern_type_filter),
        row.resource_name_filter,
        row.principal_filter,
        row.host_filter,
        Operation(row.operation),
        Permission(row.permission_type),
    )
    if has_unknown(found):
        raise DecodeError("a filter of ACLs with unknown elements")
    return found


def exactly(wanted: AclFilter) -> Acl | None:
    """The one ACL that the filter can find, if it names every field."""
    resource, pattern, name, principal, host, operation, permission = wanted
    if name is None or principal is None or host is None or pattern is PatternType.MATCH:
        return None
    if 1 in (resource, pattern, operation, permission):  # ANY
        return None
    return Acl(resource, pattern, name, principal, host, operation, permission)


async def find(wanted: AclFilter, acls: Collection[Acl], work: Work) -> AsyncIterator[Acl]:
    """The ACLs that the filter finds, in no order."""
    one = exactly(wanted)
    if one is not None:
        if one in acls:
            yield one
        return
    async for acl in work.pace(acls):
        if wanted.matches(acl):
            yield acl
