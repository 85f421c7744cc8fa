"""Parks and wakes requests in functions, where no process can wait.

A request that would wait is parked, with its connection as the watcher. The function that commits
an append, or changes a group, collects the watchers to wake, and pushes to them before its own
answer is sent: it does not run any longer than that.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from samsa.aws.dynamodb import DynamoLedger
from samsa.ports import Appended, Awaited, CannotWait, GroupKey, Partition
from samsa_websocket.pushes.connections import ConnectionsApi
from samsa_websocket.pushes.pushing import Pushes

from .request_scope import Parking, RequestScope


class NoWait:
    """The subscription of a request that cannot wait here."""

    def __init__(self, scope: RequestScope, awaited: Iterable[Awaited]) -> None:
        self._scope = scope
        self._awaited = tuple(awaited)

    async def wait(self, timeout_ms: int, look_again_ms: int | None = None) -> bool:
        of_a_group = any(isinstance(each, GroupKey) for each in self._awaited)
        left = timeout_ms if of_a_group else timeout_ms - self._scope.waited_ms
        if left > 0:
            self._scope.parking = Parking(self._awaited, left, look_again_ms)
        raise CannotWait


class ParkingWakeups:
    """The wake-ups of one request: where it would wait, it is parked."""

    def __init__(self, scope: RequestScope) -> None:
        self._scope = scope
        self.address = scope.connection_id

    @contextmanager
    def subscribe(self, awaited: Iterable[Awaited]) -> Iterator[NoWait]:
        yield NoWait(self._scope, awaited)


class PushedWakeups(ParkingWakeups):
    """Collects the watchers that are to be woken. Requests of the HTTP API have no scope of their
    own, and cannot wait either."""

    def __init__(self, ledger: DynamoLedger) -> None:
        super().__init__(RequestScope())
        self.pushes = Pushes(ledger)
        self._of_groups: list[tuple[GroupKey, frozenset[str]]] = []

    def wake(
        self, awaited: Awaited, watchers: Iterable[str], appended: Appended | None = None
    ) -> None:
        if isinstance(awaited, GroupKey):
            self._of_groups.append((awaited, frozenset(watchers)))
        else:
            self.pushes.add(awaited, watchers, appended)

    @property
    def pending(self) -> bool:
        return self.pushes.pending or bool(self._of_groups)

    async def flush(self, connections: ConnectionsApi, served: str = "") -> None:
        """Push what was collected. A push that fails or is late is lost: it was only a hint. The
        members of a group on the connection `served` need no push: they get an answer now."""
        of_groups, self._of_groups = self._of_groups, []
        for group, watchers in of_groups:
            self.pushes.add(group, watchers - {served})

        async def find(_: str) -> ConnectionsApi:
            return connections

        if self.pushes.pending:
            await self.pushes.send(find)


class ConnectionWatches:
    """Each connection is a watcher of its own, and is entered again each time that it is parked."""

    def __init__(self, ledger: DynamoLedger, scope: RequestScope, expires_at: int) -> None:
        self._ledger = ledger
        self._scope = scope
        self._expires_at = expires_at

    async def ensure(self, partition: Partition) -> bool:
        scope = self._scope
        if partition in scope.watched:
            return False
        head = await self._ledger.watch(partition, scope.connection_id, self._expires_at)
        if scope.connection_id not in head.watchers:
            return False  # the head is full, so no wake-up will come: the shim asks again
        scope.watched.add(partition)
        return True
