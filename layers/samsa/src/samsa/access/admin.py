"""What the requests of admins about ACLs, credentials and quotas share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.ports import ItemTooLarge, SecurityEntry
from samsa.ports.bounds import raise_if_large_entry
from samsa.security.kinds import CLUSTER_NAME, Operation, ResourceType
from samsa.topics.configs import Refused
from samsa.wire.errors import ErrorCode

from .view import AdminChange, SecurityView

if TYPE_CHECKING:
    from samsa.broker.broker import Broker, Context

NO_AUTHORIZER = "No Authorizer is configured."
NOT_ALLOWED = "Cluster authorization failed."
TOO_LONG = "The names in it are too long."
TIMED_OUT = "The request timed out."


def raise_unless_may_cluster(context: Context, operation: Operation) -> None:
    """Raises Refused."""
    if not context.access.may(operation, ResourceType.CLUSTER, CLUSTER_NAME):
        raise Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, NOT_ALLOWED)


def acls_of(broker: Broker, problem: str = NO_AUTHORIZER) -> SecurityView:
    """Raises Refused if there are no ACLs."""
    if broker.access is None or not broker.access.has_acls:
        raise Refused(ErrorCode.SECURITY_DISABLED, problem)
    return broker.access


def raise_if_too_long(entry: SecurityEntry) -> None:
    """Raises Refused."""
    try:
        raise_if_large_entry(entry)
    except ItemTooLarge:
        raise Refused(ErrorCode.INVALID_REQUEST, TOO_LONG) from None


def raise_if_too_many(total: int, most: int, what: str) -> None:
    """Raises Refused if there would be more."""
    if total > most:
        raise Refused(ErrorCode.POLICY_VIOLATION, f"There may be at most {most} {what}.")


def tell(view: SecurityView, context: Context, action: str, subject: object) -> None:
    """Report a change to the audit."""
    if view.on_change is not None:
        who = context.access.principal
        view.on_change(AdminChange(who, context.client_host, action, str(subject)))
