"""Parks and wakes requests in functions, where no process can wait.

A request that would wait is parked, with its connection as the watcher. The function that commits
an append, or changes a group, collects the watchers to wake, and pushes to them before its own
answer is sent: it does not run any longer than that.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from samsa.aws.dynamodb import DynamoLedger
from samsa.log.stores import Stores
from samsa.log.watch import Watches
from samsa.ports import Appended, Awaited, CannotWait, GroupKey, Partition
from samsa_websocket.pushes.connections import ConnectionsApi
from samsa_websocket.pushes.pushing import Pushes

from .request_scope import CurrentRequest, Parking


class NoWait:
    """The subscription of a request that cannot wait here."""

    def __init__(self, current: CurrentRequest, awaited: Iterable[Awaited]) -> None:
        self._current = current
        self._awaited = tuple(awaited)

    async def wait(self, timeout_ms: int, look_again_ms: int | None = None) -> bool:
        scope = self._current.scope
        of_a_group = any(isinstance(each, GroupKey) for each in self._awaited)
        left = timeout_ms if of_a_group else timeout_ms - scope.waited_ms
        if left > 0:
            scope.parking = Parking(self._awaited, left, look_again_ms)
        raise CannotWait


class PushedWakeups:
    def __init__(self, current: CurrentRequest, ledger: DynamoLedger) -> None:
        self._current = current
        self.pushes = Pushes(ledger)
        self.address = ""
        """The connection whose request is being served."""

    @contextmanager
    def subscribe(self, awaited: Iterable[Awaited]) -> Iterator[NoWait]:
        yield NoWait(self._current, awaited)

    def wake(
        self, awaited: Awaited, watchers: Iterable[str], appended: Appended | None = None
    ) -> None:
        if isinstance(awaited, GroupKey):
            # The request that is being answered needs no wake-up.
            watchers = [watcher for watcher in watchers if watcher != self.address]
        self.pushes.add(awaited, watchers, appended)

    @property
    def pending(self) -> bool:
        return self.pushes.pending

    async def flush(self, connections: ConnectionsApi) -> None:
        """Push what was collected. A push that fails or is late is lost: it was only a hint."""

        async def find(_: str) -> ConnectionsApi:
            return connections

        await self.pushes.send(find)


class ConnectionWatches(Watches):
    """Each connection is a watcher of its own, and is entered again each time that it is parked."""

    def __init__(self, stores: Stores, current: CurrentRequest, watch_ms: int) -> None:
        super().__init__(stores)
        self._current = current
        self._watch_ms = watch_ms
        self._ports = stores

    async def ensure(self, partition: Partition) -> bool:
        scope = self._current.scope
        if partition in scope.watched:
            return False
        expires_at = self._ports.clock.now_ms() + self._watch_ms
        head = await self._ports.ledger.watch(partition, scope.connection_id, expires_at)
        if scope.connection_id not in head.watchers:
            return False  # the head is full, so no wake-up will come: the shim asks again
        scope.watched.add(partition)
        return True
