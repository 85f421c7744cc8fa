"""Waiting and waking where no process waits.

A request that would wait is parked with its connection as the watcher. Who confirms an append, or
moves a group on, collects whom to wake, and pushes to them before its own answer goes out: a
function runs no longer than that. A watcher is woken once, and then has to come again: else every
append would push to consumers that are busy reading anyway.
"""

import asyncio
import logging
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import islice

from samsa.aws.connections import ConnectionsApi, Gone
from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.heads import FORGOTTEN_AT_ONCE
from samsa.envelope import Wake, encode
from samsa.log.stores import Stores
from samsa.log.tokens import Token
from samsa.log.watch import Watches
from samsa.ports import (
    Awaited,
    CannotWait,
    GroupKey,
    Partition,
    Unavailable,
    UnknownPartition,
)

from .visit import Door, Parking

log = logging.getLogger("samsa.gateway")
WAKING_S = 2.0
"""For all pushes of one event: the answer to the request itself waits for them."""
WOKEN_AT_ONCE = 1_000
"""Connections that one event wakes. Further ones stay watchers, and the next event wakes them."""
OF_A_PROCESS = "|"
"""In the address of a watcher that is a process, and hears datagrams: not ours to wake."""


def watch_name(awaited: Awaited) -> str:
    """Short, for a fetch may watch thousands. Two of one name cost a look, and nothing else."""
    kind = "g" if isinstance(awaited, GroupKey) else "p"
    digest = blake2b(f"{awaited!s}".encode(), digest_size=6).digest()
    return f"{kind}/{urlsafe_b64encode(digest).decode()}"


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
        self._ledger = ledger
        self._names: dict[str, set[str]] = {}
        self._woken: dict[Partition, dict[str, int]] = {}
        self.address = ""
        """The connection whose request is being served."""

    @contextmanager
    def subscribe(self, awaited: Iterable[Awaited]) -> Iterator[NoWait]:
        yield NoWait(self._door, awaited)

    def wake(self, awaited: Awaited, watchers: Iterable[str]) -> None:
        for watcher in filter(self._has_room_for, watchers):
            if isinstance(awaited, GroupKey) and watcher == self.address:
                continue  # its request is the one that is being answered
            self._names.setdefault(watcher, set()).add(watch_name(awaited))
        if isinstance(awaited, Partition) and isinstance(watchers, Mapping):
            ours = {w: t for w, t in watchers.items() if w in self._names}
            self._woken.setdefault(awaited, {}).update(ours)

    def _has_room_for(self, watcher: str) -> bool:
        room = watcher in self._names or len(self._names) < WOKEN_AT_ONCE
        return room and OF_A_PROCESS not in watcher

    @property
    def pending(self) -> bool:
        return bool(self._names)

    async def flush(self, connections: ConnectionsApi) -> None:
        """Push what was collected. Whatever fails or is late is a hint that was lost."""
        names, self._names = self._names, {}
        woken, self._woken = self._woken, {}
        pushes = [self._push(connections, watcher, names[watcher]) for watcher in names]
        try:
            async with asyncio.timeout(WAKING_S):
                await asyncio.gather(*pushes, *(self._forget(*entry) for entry in woken.items()))
        except TimeoutError:
            log.warning("not all of %d connections were woken within %g s", len(names), WAKING_S)

    async def _push(self, connections: ConnectionsApi, watcher: str, names: set[str]) -> None:
        try:
            await connections.post(watcher, encode(Wake(tuple(sorted(names)))))
        except Gone:
            log.info("a watcher has gone: %s", watcher)
        except Unavailable as error:
            log.warning("a wake-up was lost: %s", error)

    async def _forget(self, partition: Partition, watchers: dict[str, int]) -> None:
        left = iter(watchers.items())
        while some := dict(islice(left, FORGOTTEN_AT_ONCE)):
            with suppress(Unavailable, UnknownPartition):
                await self._ledger.forget_watchers(partition, some)


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
        visit.open_since_ms += [Token.parse(token).opened_at for token in head.inflight]
        return True
