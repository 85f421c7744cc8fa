"""Waiting and waking where no process waits.

A request that would wait is parked with its connection as the watcher. The function that commits an
append, or moves a group on, collects whom to wake, and pushes to them before its own answer goes
out: it runs no longer than that.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from samsa.aws.connections import ConnectionsApi
from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.pushing import Pushes
from samsa.log.stores import Stores
from samsa.log.watch import Watches
from samsa.ports import Appended, Awaited, CannotWait, GroupKey, Partition

from .visit import Door, Parking


class NoWait:
    """The subscription of a request that cannot wait here."""

    def __init__(self, door: Door, awaited: Iterable[Awaited]) -> None:
        self._door = door
        self._awaited = tuple(awaited)

    async def wait(self, timeout_ms: int) -> bool:
        visit = self._door.visit
        of_a_group = any(isinstance(each, GroupKey) for each in self._awaited)
        left = timeout_ms if of_a_group else timeout_ms - visit.waited_ms
        if left > 0:
            visit.parking = Parking(self._awaited, left)
        raise CannotWait


class PushedWakeups:
    def __init__(self, door: Door, ledger: DynamoLedger) -> None:
        self._door = door
        self.pushes = Pushes(ledger)
        self.address = ""
        """The connection whose request is being served."""

    @contextmanager
    def subscribe(self, awaited: Iterable[Awaited]) -> Iterator[NoWait]:
        yield NoWait(self._door, awaited)

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
        """Push what was collected. Whatever fails or is late is a hint that was lost."""

        async def find(_: str) -> ConnectionsApi:
            return connections

        await self.pushes.send(find)


class ConnectionWatches(Watches):
    """Each connection watches for itself, and anew each time that it is parked."""

    def __init__(self, stores: Stores, door: Door, watch_ms: int) -> None:
        super().__init__(stores)
        self._door = door
        self._watch_ms = watch_ms
        self._ports = stores

    async def ensure(self, partition: Partition) -> bool:
        visit = self._door.visit
        if partition in visit.watched:
            return False
        expires_at = self._ports.clock.now_ms() + self._watch_ms
        head = await self._ports.ledger.watch(partition, visit.connection_id, expires_at)
        if visit.connection_id not in head.watchers:
            return False  # the head is full, so no wake-up will come: the shim asks again
        visit.watched.add(partition)
        return True
