"""What the client of a connection may do: the principal that signed its handshake, and the ACLs.

Principal and address are those that API Gateway told with $connect. What a client writes into its
messages, or says of itself in the query of the handshake, gives it no rights: not even an address
that an ACL names.

The ACLs are looked at once a second, by requests. A function may have been frozen for hours since
it read them: if they cannot be read now, it refuses its clients rather than go by old ones.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from samsa.security.access import UNLIMITED, Access, Limited
from samsa.security.aws_principals import principal_of_arn
from samsa.security.principals import ANONYMOUS, Principal
from samsa_websocket.pushes.open_connections import OpenConnection

from .connection_cache import ConnectionCache

if TYPE_CHECKING:
    from samsa.access.view import SecurityView
    from samsa.runtime.audit import Audit
    from samsa.wire.frame import KafkaRequest

WAY_IN = {"listener": "websocket", "mechanism": "AWS_IAM"}


class UnknownCaller(Exception):
    """Its principal is not known for sure, so it may do nothing."""


class CallerRights:
    def __init__(self, connections: ConnectionCache) -> None:
        """Without ACLs."""
        self._connections = connections

    def admit(self, connection: OpenConnection) -> None:
        """A new connection. Raises UnknownCaller."""

    async def of(self, connection_id: str, since: int) -> Access:  # noqa: ARG002
        """Raises UnknownCaller; Unavailable."""
        return UNLIMITED

    def answered(self, request: KafkaRequest, answer: Any, access: Access) -> None:
        """To be called with each answer."""


class RightsByAcl(CallerRights):
    def __init__(self, connections: ConnectionCache, view: SecurityView, audit: Audit) -> None:
        super().__init__(connections)
        self._view = view
        self._audit = audit

    def admit(self, connection: OpenConnection) -> None:
        try:
            principal = _principal(connection)
        except UnknownCaller as error:
            self._audit.refused_login(str(error), address=connection.source, **WAY_IN)
            raise
        self._audit.logged_in(principal=principal, address=connection.source, **WAY_IN)

    async def of(self, connection_id: str, since: int) -> Access:
        connection, _ = await asyncio.gather(
            self._connections.look_up(connection_id, since), self._view.refresh_in_function()
        )
        if connection.source is None:
            raise UnknownCaller("the connection was opened by an older version: connect again")
        return self._view.access_for(_principal(connection), connection.source)

    def answered(self, request: KafkaRequest, answer: Any, access: Access) -> None:
        from samsa.runtime.audited_changes import tell_changes

        host = access.host if isinstance(access, Limited) else ""
        tell_changes(self._audit, request, answer, access.principal, host)


def _principal(connection: OpenConnection) -> Principal:
    """Raises UnknownCaller."""
    if not connection.principal:
        return ANONYMOUS  # no signature is asked for, as by `samsa local-api`
    try:
        return principal_of_arn(connection.principal)
    except ValueError as error:
        raise UnknownCaller(f"{connection.principal[:200]!r}: {error}") from error
